package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.Principal;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.CallHead;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.PendingCall;

/** Tests an authorizer that takes longer than the caller's timeout. */
@Timeout(60)
class SlowAuthorizerTest {

    interface Greeting {
        String greet();
    }

    /** An authorizer that returns when the test releases it. */
    private static final class Directory implements RpcAuthorizer {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch decides = new CountDownLatch(1);

        @Override
        public @Nullable Principal authorize(CallHead call) {
            asked.countDown();
            try {
                if (!decides.await(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("the test did not let it decide");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return null;
        }
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Greeting.class);

    private final AtomicLong time = new AtomicLong();
    private final AtomicInteger ran = new AtomicInteger();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), time::get);
    private final Directory directory = new Directory();
    private final RpcServer server = RpcServer.builder(transport)
            .export(ServiceExport.of(Greeting.class, () -> "hello " + ran.incrementAndGet()))
            .authorizer(directory)
            .maxQueueWait(Duration.ofSeconds(1))
            .meters(new RpcMeters(registry, Slo.DEFAULT))
            .clock(time::get)
            .build();

    @AfterEach
    void close() {
        directory.decides.countDown();
        server.close();
    }

    private double inside() {
        return registry.get(RpcMeter.SERVER_CONCURRENCY.key()).gauge().value();
    }

    private CompletableFuture<Response> call(Deadline deadline) {
        CompletableFuture<Response> answer = new CompletableFuture<>();
        Invocation call = new Invocation(
                new ServiceKey(SERVICE.name(), "", ""),
                SERVICE.overloads("greet").get(0),
                new Object[0],
                new Metadata(),
                deadline,
                Runnable::run);
        transport
                .connect(new Endpoint("memory", 0), 1, null)
                .send(new PendingCall(call, false, 0, (response, failed) -> {
                    if (failed == null) {
                        answer.complete(response);
                    } else {
                        answer.completeExceptionally(failed);
                    }
                }));
        return answer;
    }

    @Test
    void callerIsAnsweredAtItsDeadlineAndTheAuthorizerIsNamed() throws Exception {
        server.start();
        CompletableFuture<Response> answer = call(Deadline.at(time.get() + 1_000));
        assertThat(directory.asked.await(30, TimeUnit.SECONDS)).isTrue();

        time.addAndGet(2_000);
        transport.sweep();

        RpcException failure = (RpcException) Objects.requireNonNull(
                answer.handle((response, failed) -> failed).get(30, TimeUnit.SECONDS));
        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure)
                .hasMessageContaining(Directory.class.getName())
                .hasMessageNotContaining("worker")
                .hasMessageNotContaining("queue");
        assertThat(inside()).as("its place while the authorizer thinks").isEqualTo(1);
        directory.decides.countDown();
        while (inside() > 0) { // Waits until the worker has finished the call.
            Thread.onSpinWait();
        }
        assertThat(ran).hasValue(0);
    }

    @Test
    void authorizerThatDecidesInTimeLetsTheCallRun() throws Exception {
        server.start();
        CompletableFuture<Response> answer = call(Deadline.at(time.get() + 1_000));
        assertThat(directory.asked.await(30, TimeUnit.SECONDS)).isTrue();

        time.addAndGet(999);
        transport.sweep();
        directory.decides.countDown();

        assertThat(answer.get(30, TimeUnit.SECONDS).value()).isEqualTo("hello 1");
    }
}
