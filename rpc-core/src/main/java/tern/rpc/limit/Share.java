package tern.rpc.limit;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;

/**
 * Counts the calls from one tenant (a certificate, an address or a connection) that a {@link Limiter} has admitted. A
 * call is counted until it has ended and its method has returned, even if its caller has disconnected. Thread-safe.
 */
public final class Share {

    private static final AtomicIntegerFieldUpdater<Share> HELD =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "held");

    private static final AtomicIntegerFieldUpdater<Share> ELSEWHERE =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "elsewhere");

    private static final AtomicIntegerFieldUpdater<Share> STREAMING =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "streaming");

    private static final AtomicIntegerFieldUpdater<Share> CONNECTIONS =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "connections");

    private static final AtomicIntegerFieldUpdater<Share> OPEN_STREAMS =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "openStreams");

    private final Object tenant;
    private final @Nullable Share whole;
    private volatile int held; // Only the field updater HELD changes the field "held".
    private volatile int elsewhere; // Only the field updater ELSEWHERE changes the field "elsewhere".
    private volatile int streaming; // Only the field updater STREAMING changes the field "streaming".
    private volatile int openStreams; // Only the field updater OPEN_STREAMS changes openStreams.
    private volatile int connections; // Only the field updater CONNECTIONS changes the field "connections".

    /** @param tenant identifies the tenant; its {@code toString} names the tenant in refusals, logs and meters */
    public Share(Object tenant) {
        this(tenant, null);
    }

    /**
     * @param whole the larger tenant that contains this tenant, such as the address of a connection. The larger tenant
     *     counts the calls from all of its parts. Null if there is no larger tenant
     */
    public Share(Object tenant, @Nullable Share whole) {
        this.tenant = tenant;
        this.whole = whole;
    }

    /** Returns the tenant's name. The name is escaped, because it may come from a client's certificate. */
    public String tenant() {
        return PeerText.name(tenant.toString());
    }

    /**
     * Returns whether the tenant is part of a larger tenant. For example, the tenant of a connection is part of the
     * tenant of the client's address.
     */
    public boolean isPart() {
        return whole != null;
    }

    /** Returns the number of the tenant's admitted calls. */
    public int held() {
        return held;
    }

    /** Returns the number of the tenant's admitted calls that have a worker or wait for one. */
    public int working() {
        return held - elsewhere;
    }

    /** Returns the number of stream tasks that are running or waiting for a thread. */
    public int streaming() {
        return streaming;
    }

    /** Adds one to the tenant's number of stream tasks. Called just before the task is passed to a thread. */
    public void streamBegins() {
        for (Share each = this; each != null; each = each.whole) {
            STREAMING.incrementAndGet(each);
        }
    }

    /** Subtracts one from the number of stream tasks. Must be called once for each call of {@link #streamBegins}. */
    public void streamEnds() {
        for (Share each = this; each != null; each = each.whole) {
            STREAMING.decrementAndGet(each);
        }
    }

    /** Returns the number of the tenant's open streaming calls. */
    public int openStreams() {
        return openStreams;
    }

    /** Adds one to the tenant's number of open streaming calls. */
    public void streamOpens() {
        for (Share each = this; each != null; each = each.whole) {
            OPEN_STREAMS.incrementAndGet(each);
        }
    }

    /** Removes a streaming call from the count. Must be called once for each call of {@link #streamOpens}. */
    public void streamCloses() {
        for (Share each = this; each != null; each = each.whole) {
            OPEN_STREAMS.decrementAndGet(each);
        }
    }

    /** Adds one to the tenant's number of open connections. */
    public void connectionOpens() {
        CONNECTIONS.incrementAndGet(this);
    }

    /**
     * Subtracts one from the number of open connections. Must be called once for each call of {@link #connectionOpens}.
     */
    public void connectionCloses() {
        CONNECTIONS.decrementAndGet(this);
    }

    /**
     * Returns whether this tenant is the only open connection of its address. A connection is a tenant only while the
     * transport has no connection from a second address. Calls from the server's own process, and from the server's
     * other transports, belong to other tenants.
     */
    private boolean isAlone() {
        Share address = whole;
        return address != null && address.connections == 1;
    }

    /**
     * Returns whether this tenant is the only open connection of its address, and the other tenant belongs to the same
     * address. In that case, the other tenant is either this connection or a closed connection.
     */
    public boolean isAllThatIsLeftOf(@Nullable Share other) {
        return other != null && other.whole == whole && isAlone();
    }

    /** Returns the larger tenant that contains this tenant, or null if there is none. */
    @Nullable
    Share whole() {
        return whole;
    }

    /**
     * Adds one to this tenant's number of calls, and returns the new number. Does not change the number of calls of the
     * {@link #whole larger tenant}.
     */
    int entered() {
        return HELD.incrementAndGet(this);
    }

    /**
     * Removes a call from the count of this tenant. Must be called once for each call of {@link #entered}. Returns the
     * new number of calls.
     */
    int left() {
        return HELD.decrementAndGet(this);
    }

    void threadLeaves() {
        for (Share each = this; each != null; each = each.whole) {
            ELSEWHERE.incrementAndGet(each);
        }
    }

    void threadStays() {
        for (Share each = this; each != null; each = each.whole) {
            ELSEWHERE.decrementAndGet(each);
        }
    }
}
