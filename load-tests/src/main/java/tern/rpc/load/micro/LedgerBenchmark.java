package tern.rpc.load.micro;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Phase;
import tern.rpc.Response;
import tern.rpc.RunningCall;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.ServiceLookup;

/**
 * Measures the cost of a call's ledger, which records how long each phase of the call takes. The benchmark covers a
 * call from admission to answer, without encoding. The submitting thread runs the method, so no thread switch takes
 * place. The counted operations do nothing. Compare medians, because other processes have little influence on them.
 *
 * <pre>java -cp load-tests/target/load-tests.jar org.openjdk.jmh.Main LedgerBenchmark</pre>
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 4, time = 1)
public class LedgerBenchmark {

    @Param({"false", "true"})
    boolean ledger;

    @Param({"0", "10", "100"})
    int operations;

    private final InPlace transport = new InPlace();
    final RpcMeters meters = new RpcMeters(new SimpleMeterRegistry(), Slo.DEFAULT);
    private @Nullable RpcServer server;
    private @Nullable Invocation call;

    /** The measured service. */
    public interface Counter {

        int count(int operations);
    }

    private static final class Operations implements Counter {
        @Override
        public int count(int operations) {
            for (int i = 0; i < operations; i++) {
                CallLedger ledger = CallLedger.current();
                Phase outer = ledger.enter(Phase.REDIS);
                ledger.leave(outer);
            }
            return operations;
        }
    }

    @Setup
    public void start() {
        ServiceDescriptor service = ServiceDescriptor.of(Counter.class);
        MethodDescriptor method = service.methods().iterator().next();
        call = new Invocation(
                new ServiceKey(service.name(), "", ""),
                method,
                new Object[] {operations},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        server = RpcServer.builder(transport)
                .export(ServiceExport.of(Counter.class, new Operations()))
                .meters(meters)
                .threads(CallingThread::new, Duration.ZERO)
                .ledger(ledger)
                .build();
        server.start();
    }

    List<RunningCall> running() {
        return server == null ? List.of() : server.runningCalls();
    }

    @TearDown
    public void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Benchmark
    public @Nullable Object call() {
        Call received = new Call(call);
        transport.handle(received);
        return received.answer;
    }

    /**
     * Reads the clock 200 times, as a hundred counted operations do. Reading the clock accounts for most of the cost of
     * a counted operation.
     */
    @Benchmark
    public long readTheClock() {
        long sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += System.nanoTime();
        }
        return sum;
    }

    private static final class InPlace implements ServerTransport {

        private @Nullable CallHandler handler;

        void handle(ServerCall received) {
            if (handler != null) {
                handler.handle(received);
            }
        }

        @Override
        public void prepare(ServiceDescriptor service) {}

        @Override
        public void start(CallHandler given) {
            handler = given;
        }

        @Override
        public int port() {
            return 0;
        }

        @Override
        public void drain() {}

        @Override
        public int connections() {
            return 0;
        }

        @Override
        public long received() {
            return 0;
        }

        @Override
        public int inFlight() {
            return 0;
        }

        @Override
        public long queuedBytes() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private static final class Call implements ServerCall {

        private final long received = System.nanoTime();
        private final @Nullable Invocation decoded;
        private @Nullable Object answer;

        Call(@Nullable Invocation decoded) {
            this.decoded = decoded;
        }

        @Override
        public long receivedNanos() {
            return received;
        }

        @Override
        public Invocation decode(ServiceLookup services, Admission admission) {
            if (decoded == null) {
                throw new IllegalStateException("not set up");
            }
            return decoded;
        }

        @Override
        public void reply(Response response) {
            answer = response.value();
        }

        @Override
        public void fail(Throwable failure, Metadata metadata) {
            throw new IllegalStateException(failure);
        }

        @Override
        public boolean isOpen() {
            return answer == null;
        }

        @Override
        public void watch(long untilNanos, Watcher watcher) {}

        @Override
        public String protocol() {
            return "memory";
        }

        @Override
        public @Nullable SocketAddress remoteAddress() {
            return null;
        }
    }
}
