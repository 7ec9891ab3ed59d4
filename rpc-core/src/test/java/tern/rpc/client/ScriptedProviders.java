package tern.rpc.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.PendingCall;

/** A client, with providers that the test controls. */
abstract class ScriptedProviders {

    static final Endpoint ONE = new Endpoint("one", 1);
    static final Endpoint TWO = new Endpoint("two", 2);

    public interface Service {
        void call();

        CompletableFuture<String> later();
    }

    /** A connection whose state and reaction to calls are set by the test. */
    static final class Connection extends IdleConnection {
        BiConsumer<Connection, PendingCall> taking = (taken, call) -> call.answer(Answer.NOTHING);
        long queuedBytes;
        int attempts;
        int attemptsUntilAvailable = Integer.MAX_VALUE;
        volatile @Nullable PendingCall waiting; // the call that is waiting for an answer
        volatile Runnable pinged = () -> {};
        volatile long pingDelayNanos;
        // counted down when the client checks for silent providers
        final CountDownLatch examined = new CountDownLatch(1);

        Connection(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public void connectSoon() {
            attempts++;
            available |= attempts >= attemptsUntilAvailable;
        }

        @Override
        public void forEachWaiting(Consumer<PendingCall> action) {
            PendingCall call = waiting;
            if (call != null) {
                action.accept(call);
            }
            examined.countDown();
        }

        @Override
        public void probe() {
            pinged.run();
        }

        @Override
        public long pingDelayNanos() {
            return pingDelayNanos;
        }

        @Override
        public long queuedBytes() {
            return queuedBytes;
        }

        @Override
        public void send(PendingCall call) {
            taking.accept(this, call);
        }
    }

    final Map<Endpoint, Connection> connections = new ConcurrentHashMap<>();
    volatile boolean refusesToOpen; // true if attempts to open another connection must fail
    final List<Endpoint> asked = new ArrayList<>();

    final AtomicLong aheadNanos = new AtomicLong(); // the difference between the client's clock and the system clock

    final RpcClient client = RpcClient.builder()
            .transport(new FakeTransport(this::open))
            .clock(() -> System.nanoTime() + aheadNanos.get())
            .build();

    @AfterEach
    void close() {
        client.close();
    }

    private Connection open(Endpoint endpoint) {
        if (refusesToOpen && !connections.containsKey(endpoint)) {
            throw new IllegalStateException("the keys cannot be used");
        }
        return connections.computeIfAbsent(endpoint, Connection::new);
    }

    Service proxy(Endpoint... endpoints) {
        return client.refer(reference(endpoints).build());
    }

    ServiceReference.Builder<Service> reference(Endpoint... endpoints) {
        return ServiceReference.to(Service.class, new StaticEndpoints(List.of(endpoints)))
                .protocol(FakeTransport.PROTOCOL);
    }

    Connection connection(Endpoint endpoint) {
        return connections.computeIfAbsent(endpoint, Connection::new);
    }

    /**
     * Makes the endpoint refuse every call. The failure says that the call was not executed. The {@code meanwhile}
     * action runs before each refusal.
     */
    void refuses(Endpoint endpoint, StatusCode code, Runnable meanwhile) {
        connection(endpoint).taking = (connection, call) -> {
            asked.add(connection.endpoint);
            meanwhile.run();
            call.fail(RpcException.refusal(code, "on purpose", Executed.NO));
        };
    }

    /** Returns a proxy whose calls wait for the provider ONE, which cannot be reached yet. */
    Service patient(Duration timeout) {
        connection(ONE).available = false;
        return client.refer(reference(ONE).timeout(timeout).waitForReady().build());
    }

    /** Returns a proxy whose methods are idempotent, and whose calls wait for a provider if {@code waits} is true. */
    Service idempotent(boolean waits, Endpoint... endpoints) {
        return client.refer(reference(endpoints)
                .defaults(MethodSettings.NONE.withIdempotent(true).withWaitForReady(waits))
                .timeout(Duration.ofMillis(waits ? 500 : 20_000))
                .build());
    }
}
