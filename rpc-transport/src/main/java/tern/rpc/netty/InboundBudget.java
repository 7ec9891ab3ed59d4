package tern.rpc.netty;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a server for requests that no worker has decoded yet: incomplete messages, and complete messages
 * that are waiting for a worker. While the budget is used up, connections that hold part of it are not read. While
 * three quarters of it are used, connections that hold more than a sixteenth of it are not read.
 *
 * <p>This cannot cause a deadlock. Complete messages need no more memory, because workers decode or refuse them and
 * release the memory. If incomplete messages hold the whole budget, one connection at a time is still read until its
 * message is complete. The total exceeds the budget by at most the size of one message. If the message is not complete
 * within {@code rpc.limits.first-bytes-timeout}, its connection is closed, and the next connection is read. Connections
 * that hold no bytes of the budget, such as connections with only small requests, are always read.
 *
 * <p>Messages smaller than {@link InboundAccount#SMALL_BYTES} are counted only after they have been held for some time,
 * because well-behaved peers send such a message without a pause. A connection checks the budget after each read, so
 * each connection may exceed the budget by the bytes of one read.
 *
 * <p>Thread-safe.
 */
final class InboundBudget {

    /**
     * The upper bound on the budget for unauthenticated callers: two messages of the default maximum size. This is
     * enough, because a caller starts with small requests before it is authenticated.
     */
    private static final long MAX_FOR_STRANGERS = 16 << 20;

    private static final int PART_FOR_STRANGERS = 16;

    private final FairBudget memory;
    private final String whose;
    private final Queue<InboundAccount> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable InboundAccount> finishing = new AtomicReference<>();

    private InboundBudget(long maxBytes, String whose) {
        this.memory = new FairBudget(maxBytes);
        this.whose = whose;
    }

    /** Creates the budget for all connections with an authenticated caller. */
    static InboundBudget forAll(long maxBytes) {
        return new InboundBudget(maxBytes, " (set by rpc.limits.max-inbound-bytes)");
    }

    /**
     * Creates the budget shared by all connections without an authenticated caller: a sixteenth of the given budget,
     * but at most 16 MiB.
     */
    static InboundBudget forStrangers(long maxBytesForAll) {
        return new InboundBudget(
                Math.min(MAX_FOR_STRANGERS, maxBytesForAll / PART_FOR_STRANGERS),
                " of connections without an admitted request (one in " + PART_FOR_STRANGERS
                        + " of rpc.limits.max-inbound-bytes; send a small request first)");
    }

    /** Describes, for error messages, whose requests hold the bytes and which property sets the limit. */
    String whose() {
        return whose;
    }

    long maxBytes() {
        return memory.maxBytes();
    }

    long used() {
        return memory.used();
    }

    /**
     * Returns whether a connection must not add bytes. The last quarter of the budget is reserved for connections that
     * hold at most a sixteenth of it, because a few connections with large messages could otherwise stop all others.
     *
     * @param held the number of bytes that the connection holds
     */
    boolean isUsedUp(long held) {
        return !memory.hasRoom(held);
    }

    /** @param bytes the number of bytes to add; negative for released bytes */
    void add(long bytes) {
        memory.add(bytes);
        if (bytes < 0 && memory.used() <= memory.maxBytes()) {
            wake();
        }
    }

    /**
     * Queues the account. The account checks the budget again when memory becomes free, or when its turn comes to
     * exceed the full budget in order to complete its message.
     *
     * @param wantsTurn whether the account has an incomplete message; only such accounts get a turn
     */
    void await(InboundAccount account, boolean wantsTurn) {
        waiting.add(account);
        if (!isUsedUp(account.held()) || (wantsTurn && finishing.get() == null)) {
            wake(); // the state may have changed before the account was queued
        }
    }

    private void wake() {
        for (int left = waiting.size(); left > 0; left--) {
            // the number of iterations is limited, because accounts may be queued again while this loop runs
            InboundAccount next = waiting.poll();
            if (next != null) {
                next.lookAgain();
            }
        }
    }

    /**
     * Returns whether the connection of the account may be read even though the budget is used up. If true, {@link
     * #finished} must be called later.
     */
    boolean mayFinish(InboundAccount account) {
        return finishing.get() == account || finishing.compareAndSet(null, account);
    }

    /**
     * Called when the message of the connection that may exceed the budget is complete or has failed. Another
     * connection that waits for memory then gets this permission.
     *
     * @param account counts the bytes of the connection
     */
    void finished(InboundAccount account) {
        if (finishing.compareAndSet(account, null)) {
            wake();
        }
    }
}
