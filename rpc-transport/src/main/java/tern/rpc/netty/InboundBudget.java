package tern.rpc.netty;

import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a server for requests that no worker has decoded yet: incomplete messages, and complete messages
 * that are waiting for a worker. A connection whose requests occupy bytes of the budget is read only while it may add
 * bytes. {@link FairBudget} decides this for each connection and its network (the connections from one address).
 *
 * <p>These rules cannot cause a deadlock. Complete messages need no more memory from the budget, because workers decode
 * or refuse them and release their memory. If no connection may add bytes to its incomplete message, one connection at
 * a time is still read until its message is complete. The network with the fewest bytes goes first. Within a network,
 * the connection that has waited the longest goes first. The total exceeds the budget by at most the size of one
 * message. If the message is not complete within {@code rpc.limits.first-bytes-timeout}, its connection is closed, and
 * the next connection is read. Connections that hold no bytes of the budget, such as connections with only small
 * requests, are always read.
 *
 * <p>Messages smaller than {@link InboundAccount#SMALL_BYTES} are counted only after they have been in memory for some
 * time, because well-behaved peers send a small message without a pause. A connection checks the budget after each
 * read, so each connection can exceed the budget by the bytes of one read.
 *
 * <p>Thread-safe.
 */
final class InboundBudget {

    /**
     * The upper bound on the budget for unauthenticated callers: two messages of the default maximum size. Two messages
     * are enough, because a caller starts with small requests before it is authenticated.
     */
    private static final long MAX_FOR_STRANGERS = 16 << 20;

    private static final int PART_FOR_STRANGERS = 16;

    /**
     * While at most 1/{@value} of the budget is used, messages on connections with calls are allowed to arrive slowly.
     */
    private static final int PART_OF_PATIENT = 4;

    /**
     * The waiting connections check the budget again when 1/{@value} of it has been released. If thousands of waiting
     * connections checked the budget after each request, they would slow down the requests on other connections.
     */
    private static final int STEPS = 256;

    private final FairBudget memory;
    private final String whose;
    private final Set<InboundAccount> waiting = ConcurrentHashMap.newKeySet();
    private final AtomicLong places = new AtomicLong(); // the number of connections that have begun to wait so far
    private final AtomicReference<@Nullable InboundAccount> finishing = new AtomicReference<>();
    // the number of bytes released since the waiting connections last checked the budget
    private final AtomicLong released = new AtomicLong();

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

    /**
     * Describes whose requests hold the bytes of the budget and which property sets the limit, as text for error
     * messages.
     */
    String whose() {
        return whose;
    }

    long maxBytes() {
        return memory.maxBytes();
    }

    long used() {
        return memory.used();
    }

    /** Returns whether more than 1/{@value #PART_OF_PATIENT} of the budget is used. */
    boolean isShort() {
        return used() > maxBytes() / PART_OF_PATIENT;
    }

    /** Returns the number of client addresses that have connections or hold bytes of the budget. */
    int networks() {
        return memory.networks();
    }

    /**
     * Adds a connection from the given address, and returns the byte counter that all connections from this address
     * share.
     */
    FairBudget.Part join(InetAddress network) {
        return memory.join(network);
    }

    /**
     * @param part the byte counter that all connections from the caller's address share
     * @param bytes the number of bytes to add; negative for released bytes
     */
    void add(FairBudget.Part part, long bytes) {
        part.add(bytes);
        if (bytes < 0 && !waiting.isEmpty() && isStep(-bytes)) {
            wake();
        }
    }

    private boolean isStep(long bytes) {
        long step = memory.maxBytes() / STEPS;
        return released.addAndGet(bytes) >= step && released.getAndSet(0) >= step;
    }

    /**
     * Lets a connection wait for free bytes until {@link #leave} is called. A waiting connection checks the budget
     * again when memory has become free, or when it is the connection that may exceed the budget to complete its
     * message.
     */
    void await(InboundAccount account) {
        if (waiting.contains(account)) {
            return;
        }
        account.waitsAs(places.getAndIncrement());
        waiting.add(account);
        if (account.hasRoom() || (account.wantsTurn() && finishing.get() == null)) {
            wake(); // memory might have become free before this connection was added to the waiting connections
        }
    }

    /** Called when the connection stops waiting for free bytes of the budget. */
    void leave(InboundAccount account) {
        waiting.remove(account);
    }

    private void wake() {
        if (finishing.get() == null) {
            giveTurn();
        }
        for (InboundAccount account : waiting) {
            if (account.hasRoom()) {
                account.lookAgain(this);
            }
        }
    }

    /**
     * Chooses the next connection that may exceed the budget: from the address with the fewest bytes, the connection
     * that has waited the longest.
     */
    private void giveTurn() {
        InboundAccount next = null;
        for (InboundAccount account : waiting) {
            if (account.wantsTurn() && (next == null || account.goesBefore(next))) {
                next = account;
            }
        }
        if (next != null && finishing.compareAndSet(null, next)) {
            next.lookAgain(this);
        }
    }

    /**
     * Returns whether this connection is the only one that may exceed the budget to complete its message. If so,
     * {@link #finished} must be called later.
     */
    boolean mayFinish(InboundAccount account) {
        return finishing.get() == account || finishing.compareAndSet(null, account);
    }

    /**
     * Called when the connection no longer needs to exceed the budget: its message is complete or has failed, or the
     * budget has enough free bytes. Another waiting connection may then exceed the budget.
     *
     * @param account counts the bytes of the connection
     */
    void finished(InboundAccount account) {
        if (finishing.compareAndSet(account, null)) {
            wake();
        }
    }
}
