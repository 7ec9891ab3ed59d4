package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;

/** A server in memory, with meters and a clock that the test advances. */
abstract class MeteredServer {

    final AtomicLong now = new AtomicLong(1_000);
    final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), now::get);
    final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private @Nullable RpcServer server;

    void start(ServiceExport export, Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder = RpcServer.builder(transport)
                .export(export)
                .clock(now::get)
                .meters(new RpcMeters(registry, Slo.DEFAULT));
        settings.accept(builder);
        server = builder.build();
        server.start();
    }

    RpcServer server() {
        return Objects.requireNonNull(server);
    }

    double refused(Refusal reason) {
        return registry.get(RpcMeter.SERVER_REFUSED.key())
                .tag(RpcMeter.REASON, reason.key())
                .functionCounter()
                .count();
    }

    /** Returns the number of admitted calls. */
    double inside() {
        return registry.get(RpcMeter.SERVER_CONCURRENCY.key()).gauge().value();
    }

    /** A condition that is expected to become true within 30 seconds. */
    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(String what, Condition condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        try {
            while (!condition.holds()) {
                assertThat(System.nanoTime() - end).as(what).isNegative();
                Thread.onSpinWait();
            }
        } catch (Exception e) {
            throw new AssertionError(what, e);
        }
    }
}
