package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Tests calls waiting for a provider whose process is frozen. */
@Timeout(60)
class SilentProviderTest extends ScriptedProviders {

    private final CompletableFuture<PendingCall> waiting =
            new CompletableFuture<>(); // the call that ONE does not answer

    private void freeze() {
        connection(ONE).taking = (connection, call) -> {
            connection.waiting = call;
            waiting.complete(call);
        };
        connection(ONE).pinged = () -> aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(600));
    }

    /** Makes calls until a call is waiting for the frozen provider. Returns the future result of this call. */
    private CompletableFuture<?> waits(Supplier<CompletableFuture<?>> call) throws Exception {
        CompletableFuture<?> result;
        do {
            result = call.get();
            CompletableFuture.anyOf(result, waiting).get(20, TimeUnit.SECONDS);
        } while (!waiting.isDone());
        aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(200));
        return result;
    }

    @Test
    void idempotentCallsMoveToAnotherProvider() throws Exception {
        freeze();
        Service service = idempotent(false, ONE, TWO);

        assertThat(waits(() -> CompletableFuture.runAsync(service::call))).succeedsWithin(Duration.ofSeconds(20));
        assertThat(waiting.join().hasFailed()).isTrue();
    }

    @Test
    void callsThatUsuallyTakeASecondMoveToo() throws Exception {
        for (Endpoint endpoint : List.of(ONE, TWO)) {
            connection(endpoint).taking = (connection, call) -> {
                aheadNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
                call.answer(Answer.NOTHING);
            };
        }
        Service service = idempotent(false, ONE, TWO);
        for (int i = 0; i < 20; i++) {
            service.call();
        }
        freeze();

        assertThat(waits(() -> CompletableFuture.runAsync(service::call))).succeedsWithin(Duration.ofSeconds(20));
        assertThat(waiting.join().hasFailed()).isTrue();
    }

    @Test
    void asynchronousIdempotentCallsMoveToAnotherProvider() throws Exception {
        freeze();
        Service service = idempotent(false, ONE, TWO);

        assertThat(waits(service::later)).succeedsWithin(Duration.ofSeconds(20));
    }

    @Test
    void callsMoveEvenIfAnEarlierExaminationHasFailed() throws Exception {
        freeze();
        Runnable ping = connection(ONE).pinged;
        connection(ONE).pinged = () -> {
            ping.run();
            throw new IllegalStateException("thrown by a test");
        };
        Service service = idempotent(false, ONE, TWO);

        assertThat(waits(() -> CompletableFuture.runAsync(service::call))).succeedsWithin(Duration.ofSeconds(20));
    }

    /** Waits until the client has checked which waiting calls it can send to another provider. */
    private void look() throws Exception {
        while (!connection(ONE).examined.await(10, TimeUnit.MILLISECONDS)) {
            aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    /** A ping may need a new connection with TLS, which takes several round trips to a distant provider. */
    @Test
    void callsStayWhileNoPingCanHaveBeenAnswered() throws Exception {
        freeze();
        AtomicLong pingedNanos = new AtomicLong();
        connection(ONE).pinged = () -> pingedNanos.compareAndSet(0, aheadNanos.get());
        connection(ONE).pingDelayNanos = TimeUnit.HOURS.toNanos(1);
        waits(idempotent(false, ONE, TWO)::later);

        while (!connection(ONE).examined.await(10, TimeUnit.MILLISECONDS)) {
            aheadNanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        }

        assertThat(aheadNanos.get() - pingedNanos.get()).isGreaterThan(TimeUnit.MINUTES.toNanos(59));
    }

    @Test
    void otherCallsStayAtTheirProvider() throws Exception {
        freeze();
        Service service = client.refer(reference(ONE, TWO).build());
        CompletableFuture<?> result = waits(service::later);

        // the client checks for silent providers only while calls to idempotent methods are in flight
        idempotent(false, ONE, TWO).later();
        look();

        assertThat(result).isNotDone();
        waiting.join().answer(Answer.NOTHING);
        assertThat(result).succeedsWithin(Duration.ofSeconds(20));
    }

    @Test
    void callsStayIfNoOtherProviderCanTakeThem() throws Exception {
        freeze();
        Service service = idempotent(false, ONE, TWO);
        CompletableFuture<?> result = waits(service::later);
        connection(TWO).available = false;

        look();

        assertThat(result).isNotDone();
    }

    /**
     * If the client process pauses, for example for garbage collection, the pause can outlast the deadlines of its
     * calls.
     */
    @Test
    void deadlineThatThisProcessNoticedLateIsNotTheFaultOfItsProvider() throws Exception {
        connection(ONE).taking = (connection, call) -> {
            aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(400));
            call.fail(RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, "late", Executed.MAYBE));
        };
        Service service =
                client.refer(reference(ONE, TWO).timeout(Duration.ofMillis(100)).build());

        int late = 0;
        for (int i = 0; i < 200; i++) {
            CompletableFuture<String> result = service.later();
            late += result.handle((answer, failure) -> failure == null ? 0 : 1).get(20, TimeUnit.SECONDS);
        }

        assertThat(late).isGreaterThan(20);
    }
}
