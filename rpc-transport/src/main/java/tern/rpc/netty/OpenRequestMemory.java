package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the headers and the decompressed bodies of open requests on one server connection occupy. Confined to
 * the event loop, except where stated otherwise.
 */
final class OpenRequestMemory {

    private static final AtomicLongFieldUpdater<OpenRequestMemory> UNPACKED =
            AtomicLongFieldUpdater.newUpdater(OpenRequestMemory.class, "unpacked");

    /** One connection's decompressed requests may occupy at most 1/{@value} of the memory for requests. */
    private static final int PARTS_UNPACKED = 4;

    private final InboundBudget all;
    private final FairBudget.Part requests; // the bytes of requests from the network of the connection
    private final FairBudget.Part networkHeads; // the bytes of headers from the network of the connection
    private long heads; // number of bytes occupied by the headers of open requests
    private boolean closed;
    // updated atomically through UNPACKED
    private volatile long unpacked;

    /**
     * @param allHeads the memory budget of the server for the headers of open requests
     * @param all the memory budget of the server for requests
     * @param network the address of the peer; for IPv6, its first 64 bits
     */
    OpenRequestMemory(FairBudget allHeads, InboundBudget all, InetAddress network) {
        this.all = all;
        this.requests = all.join(network);
        this.networkHeads = allHeads.join(network);
    }

    /** @return the reason for a refusal, as text for error messages; null if the memory was reserved */
    @Nullable
    String holdHead(int bytes) {
        if (closed) {
            return null;
        }
        if (!networkHeads.hasRoom(heads)) {
            return networkHeads.full(
                    "bytes are held for headers of open requests (a quarter of rpc.limits.max-inbound-bytes)", heads);
        }
        heads += bytes;
        networkHeads.add(bytes);
        return null;
    }

    /** Releases memory that {@link #holdHead} reserved. */
    void headGone(int bytes) {
        if (!closed) { // closed() has already released the memory for the headers of all requests
            heads -= bytes;
            networkHeads.add(-bytes);
        }
    }

    /**
     * Reserves memory for a compressed request that is about to be decompressed. Any thread may call this. Concurrent
     * callers may together exceed the limit.
     *
     * @return the reason for a refusal, as text for error messages; null if the memory was reserved
     */
    @Nullable
    String unpacks(int bytes) {
        long own = unpacked;
        long most = all.maxBytes() / PARTS_UNPACKED;
        if (own + bytes > most) {
            return "this connection has " + own + " of " + most
                    + " bytes unpacked (a quarter of rpc.limits.max-inbound-bytes)";
        }
        if (!requests.hasRoom(own + bytes)) {
            return requests.full("bytes are held for requests (set by rpc.limits.max-inbound-bytes)", own);
        }
        UNPACKED.addAndGet(this, bytes);
        all.add(requests, bytes);
        return null;
    }

    /** Releases memory that {@link #unpacks} reserved. Any thread may call this. */
    void unpacked(int bytes) {
        if (bytes > 0) {
            UNPACKED.addAndGet(this, -bytes);
            all.add(requests, -bytes);
        }
    }

    /** Called when the connection is closed. Decompressed bodies are released by their calls. */
    void closed() {
        if (!closed) {
            closed = true;
            networkHeads.add(-heads);
            networkHeads.leave();
            requests.leave();
        }
    }
}
