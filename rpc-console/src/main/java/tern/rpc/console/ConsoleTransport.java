package tern.rpc.console;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.limit.Share;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerTransport;

/**
 * Passes the console's calls to the server. Authorizers, limits, filters and meters treat them like any other call. The
 * transport has no socket and no thread. Thread-safe.
 */
final class ConsoleTransport implements ServerTransport {

    /** The protocol's name in meters. */
    static final String PROTOCOL = "console";

    private final Set<ConsoleCall> running = ConcurrentHashMap.newKeySet();
    private final AtomicLong received = new AtomicLong();
    private final Share share = new Share("the console");
    private volatile @Nullable CallHandler handler;
    private volatile boolean closed;

    /** Returns the tenant of all calls from the console. */
    Share share() {
        return share;
    }

    /**
     * Passes the call to the server and blocks until the call has ended.
     *
     * @throws WrongRequestException if the server has been closed
     */
    ConsoleOutcome.Result call(ConsoleCall call) {
        CallHandler to = handler;
        if (to == null || closed) {
            throw new WrongRequestException(503, "the RPC server was closed; it accepts no more calls");
        }
        running.add(call);
        received.incrementAndGet();
        try {
            to.handle(call);
            if (closed) {
                call.hangUp("the server was closed");
            }
            return call.await();
        } finally {
            running.remove(call);
        }
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        // No preparation is needed. The codec of a method is created when the method is first called.
    }

    @Override
    public void start(CallHandler served) {
        handler = served;
    }

    @Override
    public int port() {
        return 0;
    }

    @Override
    public void drain() {
        // The transport has no connections, so there is nothing to drain.
    }

    @Override
    public int connections() {
        return 0;
    }

    @Override
    public long received() {
        return received.get();
    }

    @Override
    public int inFlight() {
        return running.size();
    }

    @Override
    public long queuedBytes() {
        return 0;
    }

    @Override
    public void close() {
        closed = true;
        running.forEach(call -> call.hangUp("the server was closed"));
    }
}
