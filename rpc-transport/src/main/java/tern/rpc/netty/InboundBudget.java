package tern.rpc.netty;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a server for requests that no worker has decoded: incomplete messages, and messages that wait
 * for a worker. When it is used up, connections that hold part of it are not read until bytes are returned.
 *
 * <p>This cannot cause a deadlock. Complete messages need no more bytes, because workers decode or refuse them and
 * return the memory. If incomplete messages hold the whole budget, one connection at a time is read until its message
 * is complete. This exceeds the budget by at most the size of one message. The connection has a limited time for it
 * ({@code rpc.limits.first-bytes-timeout}) and is closed if it exceeds this time. Then the next connection gets its
 * turn. Connections that hold no bytes of the budget, such as those with only small requests, are always read.
 *
 * <p>Small messages ({@link InboundAccount#SMALL_BYTES}) are counted after they have stayed for some time. Honest peers
 * send them completely in one read. A connection checks the budget after each read, so the budget may be exceeded by
 * one read per connection.
 *
 * <p>Thread-safe.
 */
final class InboundBudget {

    /**
     * Size of two messages of the default limit. It suffices, because a caller starts with small requests before it is
     * authenticated.
     */
    private static final long MAX_FOR_STRANGERS = 16 << 20;

    private static final int PART_FOR_STRANGERS = 16;

    private final long maxBytes;
    private final String whose;
    private final AtomicLong used = new AtomicLong();
    private final Queue<InboundAccount> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable InboundAccount> finishing = new AtomicReference<>();

    private InboundBudget(long maxBytes, String whose) {
        this.maxBytes = maxBytes;
        this.whose = whose;
    }

    /** Creates the budget for all connections. */
    static InboundBudget forAll(long maxBytes) {
        return new InboundBudget(maxBytes, " (set by rpc.limits.max-inbound-bytes)");
    }

    /** Creates the budget for connections without an authenticated caller. It is a small part of the budget for all. */
    static InboundBudget forStrangers(long maxBytesForAll) {
        return new InboundBudget(
                Math.min(MAX_FOR_STRANGERS, maxBytesForAll / PART_FOR_STRANGERS),
                " of connections without an admitted request (one in " + PART_FOR_STRANGERS
                        + " of rpc.limits.max-inbound-bytes; send a small request first)");
    }

    /** Describes the owner of these bytes and the property of the limit, for messages. */
    String whose() {
        return whose;
    }

    long maxBytes() {
        return maxBytes;
    }

    long used() {
        return used.get();
    }

    boolean isUsedUp() {
        return used.get() > maxBytes;
    }

    /**
     * @param bytes the number of added bytes; negative for returned bytes
     */
    void add(long bytes) {
        if (used.addAndGet(bytes) <= maxBytes && bytes < 0) {
            wake();
        }
    }

    /**
     * Queues the account. It checks the budget again when the budget has room, or when it may be its turn to complete a
     * message.
     *
     * @param wantsTurn whether it has a message to complete; otherwise the check would be useless
     */
    void await(InboundAccount account, boolean wantsTurn) {
        waiting.add(account);
        if (!isUsedUp() || (wantsTurn && finishing.get() == null)) {
            wake(); // the budget may have changed before the account was queued
        }
    }

    private void wake() {
        for (int left = waiting.size(); left > 0; left--) { // some accounts are queued again while this loop runs
            InboundAccount next = waiting.poll();
            if (next != null) {
                next.lookAgain();
            }
        }
    }

    /** Whether the account may be read although the budget is used up. If so, {@link #finished} must follow. */
    boolean mayFinish(InboundAccount account) {
        return finishing.get() == account || finishing.compareAndSet(null, account);
    }

    /** Called when the message is complete or has failed. The next waiting account that checks gets the turn. */
    void finished(InboundAccount account) {
        if (finishing.compareAndSet(account, null)) {
            wake();
        }
    }
}
