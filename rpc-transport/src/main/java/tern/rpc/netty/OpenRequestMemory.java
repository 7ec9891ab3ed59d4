package tern.rpc.netty;

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

    private final FairBudget allHeads;
    private final InboundBudget all;
    private long heads; // number of bytes occupied by the headers of open requests
    private boolean closed;
    // updated atomically through UNPACKED
    private volatile long unpacked;

    /**
     * @param allHeads the memory budget of the server for the headers of open requests
     * @param all the memory budget of the server for requests
     */
    OpenRequestMemory(FairBudget allHeads, InboundBudget all) {
        this.allHeads = allHeads;
        this.all = all;
    }

    /** @return the reason for a refusal, as text for error messages; null if the memory was reserved */
    @Nullable
    String holdHead(int bytes) {
        if (closed) {
            return null;
        }
        if (!allHeads.hasRoom(heads)) {
            return "headers of open requests hold " + allHeads.used() + " of " + allHeads.maxBytes() + " bytes, "
                    + heads + " of them on this connection (a quarter of rpc.limits.max-inbound-bytes)";
        }
        heads += bytes;
        allHeads.add(bytes);
        return null;
    }

    /** Releases memory that {@link #holdHead} reserved. */
    void headGone(int bytes) {
        if (!closed) { // closed() has already released the memory for the headers of all requests
            heads -= bytes;
            allHeads.add(-bytes);
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
        long most = all.maxBytes() / PARTS_UNPACKED;
        if (unpacked + bytes > most) {
            return "this connection has " + unpacked + " of " + most
                    + " bytes unpacked (a quarter of rpc.limits.max-inbound-bytes)";
        }
        if (all.used() + bytes > all.maxBytes()) {
            return all.used() + " of " + all.maxBytes()
                    + " bytes are held for requests (set by rpc.limits.max-inbound-bytes)";
        }
        UNPACKED.addAndGet(this, bytes);
        all.add(bytes);
        return null;
    }

    /** Releases memory that {@link #unpacks} reserved. Any thread may call this. */
    void unpacked(int bytes) {
        if (bytes > 0) {
            UNPACKED.addAndGet(this, -bytes);
            all.add(-bytes);
        }
    }

    /** Called when the connection is closed. Decompressed bodies are released by their calls. */
    void closed() {
        closed = true;
        allHeads.add(-heads);
    }
}
