package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests answers that are delivered late, because application code occupies the thread that delivers them. */
class LoopRulesTest {

    private static final int LOOKS = 10;

    private final TaskWatch tasks = new TaskWatch();

    private static ThreadSnapshot thread(String name, long id, Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 41))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot(name, id, state, stack, null, null, -1, -1);
    }

    /** Adds samples of event loops. The first event loop runs application code. */
    private void loops(String name, Thread.State state, String... code) {
        for (int look = 0; look < LOOKS; look++) {
            for (int id = 1; id <= 4; id++) {
                String[] idle = {
                    "io.netty.channel.nio.NioIoHandler/run",
                    "io.netty.channel.SingleThreadIoEventLoop/runIo",
                    "io.netty.util.concurrent.SingleThreadEventExecutor$5/run"
                };
                String[] frames = id > 1
                        ? idle
                        : Stream.of(code, idle).flatMap(Stream::of).toArray(String[]::new);
                tasks.add(thread(name + id, id, id > 1 ? Thread.State.RUNNABLE : state, frames));
            }
        }
    }

    private Cause first(Phase phase, @Nullable String operation) {
        SampledCalls calls = new SampledCalls().tasks(tasks);
        return (operation == null
                        ? calls.calls("web.GET /prices", phase, 300, samples -> {})
                        : calls.waiting("web.GET /prices", operation, 300, 0, samples -> {}))
                .causes()
                .get(0);
    }

    @Test
    void codeThatSleepsInAReactiveChainIsNamedWithItsLine() {
        loops("reactor-http-nio-", Thread.State.TIMED_WAITING, "java.lang.Thread/sleep", "shop.Prices/rounded");

        Cause first = first(Phase.UNATTRIBUTED, null);

        assertThat(DiagnosisText.title(first)).isEqualTo("EVENT LOOP BLOCKED: Prices.rounded");
        assertThat(first.change().text())
                .startsWith("move the code at Prices.rounded:41")
                .contains("off the event loop reactor-http-nio:");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("until threads reactor-http-nio* deliver it"));
    }

    @Test
    void codeThatComputesInAReactiveChainIsNamed() {
        loops("reactor-http-nio-", Thread.State.RUNNABLE, "shop.Prices/rounded");

        Cause first = first(Phase.UNATTRIBUTED, null);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Prices.rounded");
        assertThat(first.change().text())
                .startsWith("do less work in Prices.rounded:41")
                .contains("move it off the event loop reactor-http-nio");
    }

    @Test
    void peerWhoseAnswersWaitForABlockedLoopIsNotTheCause() {
        loops("reactor-http-nio-", Thread.State.TIMED_WAITING, "java.lang.Thread/sleep", "shop.Prices/rounded");

        assertThat(DiagnosisText.title(first(Phase.HTTP, "GET stock:80")))
                .isEqualTo("EVENT LOOP BLOCKED: Prices.rounded");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.apache.hc.core5.reactor.SingleCoreIOReactor/processEvents",
                "org.apache.http.impl.nio.reactor.BaseIOReactor/execute"
            })
    void callbackThatSleepsOnALoopOfApachesClientIsNamed(String loop) {
        for (int look = 0; look < LOOKS; look++) {
            tasks.add(thread(
                    "httpclient-dispatch-1",
                    1,
                    Thread.State.TIMED_WAITING,
                    "java.lang.Thread/sleep",
                    "shop.Prices/rounded",
                    loop));
        }

        assertThat(DiagnosisText.title(first(Phase.HTTP, "GET stock:80")))
                .isEqualTo("EVENT LOOP BLOCKED: Prices.rounded");
    }

    @Test
    void taskThatHandsARequestOverToALoopDeliversNoAnswers() {
        for (int look = 0; look < LOOKS; look++) {
            tasks.add(thread(
                    "task-1",
                    1,
                    Thread.State.WAITING,
                    "jdk.internal.misc.Unsafe/park",
                    "io.netty.util.concurrent.SingleThreadEventExecutor/execute",
                    "reactor.core.publisher.BlockingMonoSubscriber/blockingGet",
                    "reactor.core.publisher.Mono/block",
                    "shop.Carriers/ask",
                    "java.util.concurrent.ThreadPoolExecutor$Worker/run"));
        }

        assertThat(DiagnosisText.title(first(Phase.HTTP, "POST notify:80")))
                .isEqualTo("SLOW HTTP PEER: POST notify:80");
    }

    @Test
    void blockedLoopOfAnotherClientDoesNotExplainAPeer() {
        loops("lettuce-nioEventLoop-4-", Thread.State.TIMED_WAITING, "java.lang.Thread/sleep", "shop.Prices/rounded");

        assertThat(DiagnosisText.title(first(Phase.HTTP, "GET stock:80"))).isEqualTo("SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void peerForWhichTheLoopItselfWaitsStaysTheCause() {
        loops(
                "reactor-http-nio-",
                Thread.State.WAITING,
                "jdk.internal.misc.Unsafe/park",
                "java.util.concurrent.CompletableFuture/get",
                "org.springframework.web.reactive.function.client.DefaultWebClient/exchange",
                "shop.Prices/rounded");

        assertThat(DiagnosisText.title(first(Phase.HTTP, "GET stock:80"))).isEqualTo("SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void idleLoopsExplainNothing() {
        loops("reactor-http-nio-", Thread.State.RUNNABLE);

        assertThat(DiagnosisText.title(first(Phase.HTTP, "GET stock:80"))).isEqualTo("SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void codeOnTheCallbackThreadsOfTheClientIsNamed() {
        for (int look = 0; look < LOOKS; look++) {
            tasks.add(thread(
                    "rpc-callback-1",
                    1,
                    Thread.State.TIMED_WAITING,
                    "java.lang.Thread/sleep",
                    "shop.Prices/rounded",
                    "java.util.concurrent.CompletableFuture$UniApply/tryFire",
                    "tern.rpc.concurrent.WorkerPool/run"));
        }

        Cause first = first(Phase.UNATTRIBUTED, null);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE SLEEPS: Prices.rounded");
        assertThat(first.change().text()).contains("rpc-callback");
    }
}
