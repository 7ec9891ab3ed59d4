package tern.rpc.netty;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a server spends on requests nobody has looked at yet: messages that have not come to their end, and
 * those that wait for a worker. When it is used up, connections that hold some of it are read no more until it is not.
 *
 * <p>That cannot end in a deadlock. Messages that are complete need no more bytes: workers read them or refuse them, and
 * give the memory back. Should all of it belong to messages that are not complete, one connection at a time goes on to be
 * read until its message is, which takes the size of one message beyond the budget at the most. It has a limited time
 * for that ({@code rpc.limits.first-bytes-timeout}) and is closed if it does not keep to it, so the next one gets its
 * turn. Connections that hold nothing, such as those with small requests only, are read all the time.
 *
 * <p>Small messages are counted ({@link InboundAccount#SMALL_BYTES}) once they have been there for some time. They come
 * and go in one read where peers are honest.
 * A connection looks at the budget after each read, so that what is above it is one read for each connection.
 *
 * <p>Thread-safe.
 */
final class InboundBudget {

    /** Two messages of the usual limit: whoever is known gets along with small requests first. */
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

    /** For all connections. */
    static InboundBudget forAll(long maxBytes) {
        return new InboundBudget(maxBytes, " (set by rpc.limits.max-inbound-bytes)");
    }

    /** For connections of which nobody knows yet who is at their other end: a small part of that of the others. */
    static InboundBudget forStrangers(long maxBytesForAll) {
        return new InboundBudget(
                Math.min(MAX_FOR_STRANGERS, maxBytesForAll / PART_FOR_STRANGERS),
                " of connections that have not shown yet who they are (one in " + PART_FOR_STRANGERS
                        + " of rpc.limits.max-inbound-bytes; a small request that is let in shows it)");
    }

    /** For people: whose bytes these are, and what sets how many may be held. */
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

    /** @param bytes negative for what is given back */
    void add(long bytes) {
        if (used.addAndGet(bytes) <= maxBytes && bytes < 0) {
            wake();
        }
    }

    /**
     * The account looks again when the budget is not used up, or when it may be its turn to finish a message.
     *
     * @param wantsTurn whether it has a message to finish; one that has none would look again for nothing
     */
    void await(InboundAccount account, boolean wantsTurn) {
        waiting.add(account);
        if (!isUsedUp() || (wantsTurn && finishing.get() == null)) {
            wake(); // this may have changed after the account looked and before it was in the queue
        }
    }

    private void wake() {
        for (int left = waiting.size(); left > 0; left--) { // some come back while this runs
            InboundAccount next = waiting.poll();
            if (next != null) {
                next.lookAgain();
            }
        }
    }

    /** Whether the account may go on although the budget is used up; until {@link #finished}. */
    boolean mayFinish(InboundAccount account) {
        return finishing.get() == account || finishing.compareAndSet(null, account);
    }

    /** Its message is complete, or will not be: the turn of whoever of those that wait looks first. */
    void finished(InboundAccount account) {
        if (finishing.compareAndSet(account, null)) {
            wake();
        }
    }
}
