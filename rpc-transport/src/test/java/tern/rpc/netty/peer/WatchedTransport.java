package tern.rpc.netty.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.limit.Share;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ForwardingServerTransport;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.WrappedCalls;

/**
 * A server transport that reports which resources are in use, including the limiter permits of its tenants.
 * Thread-safe.
 */
final class WatchedTransport extends ForwardingServerTransport {

    private final Set<Share> shares = ConcurrentHashMap.newKeySet();

    WatchedTransport(ServerTransport transport) {
        super(transport);
    }

    /**
     * Describes the resources in use for calls, including the limiter permits of each tenant. The result must be empty
     * when no call is running.
     */
    List<String> heldForCalls() {
        List<String> held = new ArrayList<>();
        add(held, inFlight(), "calls in flight");
        add(held, inboundBytes(), "bytes of requests");
        add(held, unsentBytes(), "bytes of unsent answers");
        add(held, queuedBytes(), "bytes in write queues");
        for (Share share : shares) {
            add(held, share.held(), "places of the limiter for " + share.tenant());
            add(held, share.held() - share.working(), "calls without a thread of " + share.tenant());
            add(held, share.streaming(), "runs of streams of " + share.tenant());
        }
        return held;
    }

    /** Describes the resources that are still in use after the server has been closed, including its connections. */
    List<String> heldAfterwards() {
        List<String> held = heldForCalls();
        add(held, connections(), "connections");
        return held;
    }

    /** Stores a tenant's call counter, so that the test can later check that the tenant holds no permits. */
    void sawShare(Share share) {
        shares.add(share);
    }

    private ServerCall seen(ServerCall call) {
        Share share = call.share();
        if (share != null) {
            sawShare(share);
        }
        return call;
    }

    private static void add(List<String> held, long count, String what) {
        if (count != 0) {
            held.add(count + " " + what);
        }
    }

    @Override
    public void start(CallHandler handler) {
        super.start(new WrappedCalls(handler, this::seen));
    }
}
