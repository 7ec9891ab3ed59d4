package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory that open requests on one server connection occupy: their headers, their messages and their decompressed
 * bodies. Confined to the event loop, except where stated otherwise.
 */
public final class OpenRequestMemory {

    private static final AtomicLongFieldUpdater<OpenRequestMemory> UNPACKED =
            AtomicLongFieldUpdater.newUpdater(OpenRequestMemory.class, "unpacked");

    /** One connection's decompressed requests may occupy at most 1/{@value} of the memory for requests. */
    private static final int PARTS_UNPACKED = 4;

    private final InboundBudget all;
    private final FairBudget.Part requests; // the request bytes of all connections from the client's address
    private final FairBudget.Part networkHeads; // the header bytes of all connections from the client's address
    private final Supplier<InboundAccount> accounts;
    // counts the bytes of messages; the event loop creates this object when the first bytes arrive, before it passes
    // the bytes to other threads
    private @Nullable InboundAccount inbound;
    private long heads; // the number of bytes occupied by the headers of open requests
    private boolean closed;
    // the number of reserved bytes of decompressed requests; updated atomically by the field updater UNPACKED
    private volatile long unpacked;

    /**
     * @param allHeads the memory budget of the server for the headers of open requests
     * @param all the memory budget of the server for requests
     * @param network the address of the peer; for IPv6, its first 64 bits
     * @param accounts creates the object that counts the bytes of the messages; called when the first bytes are counted
     */
    OpenRequestMemory(FairBudget allHeads, InboundBudget all, InetAddress network, Supplier<InboundAccount> accounts) {
        this.accounts = accounts;
        this.all = all;
        this.requests = all.join(network);
        this.networkHeads = allHeads.join(network);
    }

    // ---- message memory

    /**
     * Adjusts the number of bytes that complete request messages occupy. The event loop increases it when messages
     * arrive, and any thread may decrease it when messages have been decoded or dropped.
     *
     * @param bytes the change, as computed by {@link InboundAccount#counted}; negative for decoded or dropped messages
     */
    public void kept(int bytes) {
        if (bytes != 0) {
            inbound().kept(bytes);
        }
    }

    /**
     * Adjusts the number of bytes that incomplete request messages occupy. Called after each read.
     *
     * @param bytes the change, as computed by {@link InboundAccount#counted}; can be negative
     */
    public void incomplete(int bytes) {
        if (inbound != null || (bytes != 0 && !closed)) {
            // bytes that are added after the connection has been closed would never be released
            inbound().incomplete(bytes);
        }
    }

    /**
     * Called when a request message is complete. If this connection was allowed to exceed the memory budget for
     * requests, it loses this permission.
     */
    public void messageComplete() {
        if (inbound != null) {
            inbound.messageComplete();
        }
    }

    /** Returns whether the memory budget that counts this connection's requests is more than a quarter used. */
    boolean isShort() {
        return inbound == null ? all.isShort() : inbound.isShort();
    }

    private InboundAccount inbound() {
        InboundAccount made = inbound;
        if (made == null) {
            made = accounts.get();
            inbound = made;
            if (closed) {
                made.closed();
            }
        }
        return made;
    }

    /** Moves the bytes of messages to the given budget, because the caller has been authenticated. */
    void moveTo(InboundBudget budget) {
        if (inbound != null) {
            inbound.moveTo(budget);
        }
    }

    // ---- header memory

    /**
     * Reserves memory for the headers of a request, if the limit permits. {@link #headGone} releases the memory.
     *
     * @return the reason for a refusal, as text for error messages; null if the memory was reserved
     */
    public @Nullable String holdHead(int bytes) {
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
    public void headGone(int bytes) {
        if (!closed) { // closed() has already released the memory for the headers of all requests
            heads -= bytes;
            networkHeads.add(-bytes);
        }
    }

    // ---- decompression memory

    /**
     * Reserves memory for a compressed request that is about to be decompressed. {@link #unpacked} releases the memory.
     * Any thread may call this method. Concurrent callers can together exceed the limit.
     *
     * @param bytes the number of decompressed bytes
     * @return the reason for a refusal, as text for error messages; null if the memory was reserved
     */
    public @Nullable String unpacks(int bytes) {
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

    /** Releases memory that {@link #unpacks} reserved. Any thread may call this method. */
    public void unpacked(int bytes) {
        if (bytes > 0) {
            UNPACKED.addAndGet(this, -bytes);
            all.add(requests, -bytes);
        }
    }

    /** Called when the connection is closed. Decompressed bodies are released by their calls. */
    void closed() {
        if (!closed) {
            closed = true;
            if (inbound != null) {
                inbound.closed();
            }
            networkHeads.add(-heads);
            networkHeads.leave();
            requests.leave();
        }
    }
}
