package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests the recognition of library work in samples of threads. */
class SampledCallsTest {

    private int looks;

    private void look(SampledCall samples, String body) {
        String[] inner = {"UTF8StreamJsonParser/_finishString", "JsonFactory/create", "BeanDeserializer/deserialize"};
        StackTraceElement[] stack = Stream.of(
                        "tools.jackson.core." + inner[looks++ % inner.length],
                        "org.springframework.web.servlet.mvc.method.annotation.RequestResponseBodyMethodProcessor/"
                                + body,
                        "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                        "depot.TraceFilter/doFilterInternal")
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        samples.add(SampledCalls.sample(
                Phase.OWN, new ThreadSnapshot("http-1", 7, Thread.State.RUNNABLE, stack, null, null, -1, -1)));
    }

    @Test
    void timeThatIsSpentOnLargeAnswersIsOneCause() {
        Cause first = new SampledCalls()
                .calls("GET /orders", Phase.OWN, 150, samples -> look(samples, "writeWithMessageConverters"))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("LARGE ANSWERS: GET /orders");
        assertThat(first.ms()).isGreaterThan(100);
        assertThat(first.change().text()).startsWith("return smaller answers of GET /orders");
    }

    @Test
    void timeThatTheServerSpendsOnWritingAnAnswerIsNamedAfterTheMethod() {
        ThreadSnapshot writes = look(
                Thread.State.RUNNABLE,
                "tern.rpc.serialization.hessian.HessianWriter/writeString",
                "tern.rpc.netty.dubbo.DubboServerCall/reply",
                "tern.rpc.server.ServedCall/answer",
                "tern.rpc.concurrent.WorkerPool/run");

        Cause first = new SampledCalls()
                .calls(
                        "OrderService.list",
                        Phase.OWN,
                        150,
                        samples -> samples.add(SampledCalls.sample(Phase.OWN, writes)))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("LARGE ANSWERS: OrderService.list");
    }

    @Test
    void missingSignalIsNamed() {
        ThreadSnapshot waits = look(
                Thread.State.WAITING,
                "jdk.internal.misc.Unsafe/park",
                "java.util.concurrent.CountDownLatch/await",
                "shop.Orders/find");

        Cause first = new SampledCalls()
                .calls(
                        "OrderService.list",
                        Phase.OWN,
                        500,
                        samples -> samples.add(SampledCalls.sample(Phase.OWN, waits)))
                .causes()
                .get(0);

        assertThat(first.kind()).isEqualTo("WAITS FOR A RESULT");
        assertThat(first.change().text()).startsWith("give this signal in a finally block");
    }

    @Test
    void collectorIsASymptomOfLargeWebRequests() {
        Cause first = new SampledCalls()
                .calls("POST /orders", Phase.OWN, 200, samples -> look(samples, "readWithMessageConverters"))
                .pausedMillis(120)
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("LARGE REQUESTS: POST /orders");
        assertThat(first.ms()).isGreaterThan(150);
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("collector"));
    }

    private static ThreadSnapshot look(Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("http-1", 7, state, stack, null, null, -1, -1);
    }

    private static void lookAtClient(SampledCall samples, Phase phase, String library, String opens) {
        ThreadSnapshot thread =
                look(Thread.State.WAITING, "sun.nio.ch.Net/poll", opens, library, "depot.Tracking/track");
        samples.add(SampledCalls.sample(phase, thread));
        samples.addStack(phase, thread, false);
    }

    /**
     * Simulates calls whose samples always show the given stack frame of a client. Returns the cause that the diagnosis
     * names first.
     */
    private Cause firstInClient(Phase phase, String library, String frame) {
        return new SampledCalls()
                .calls("Tracking.track", phase, 150, samples -> lookAtClient(samples, phase, library, frame))
                .causes()
                .get(0);
    }

    @Test
    void adviceForExchangesThatOpenConnectionsIsToKeepThem() {
        Cause first = firstInClient(Phase.HTTP, "okhttp3.Call/execute", "sun.nio.ch.NioSocketImpl/connect");

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: GET stock:80");
        assertThat(first.change().text()).startsWith("keep connections open and use one client");
    }

    private static final String APACHE = "org.apache.hc.client5.http.impl.classic.CloseableHttpClient/execute";
    private static final String LEASE = "org.apache.hc.core5.pool.StrictConnPool/lease";

    @Test
    void adviceForAClientThatIsNotMeasuredIsMoreConnections() {
        int[] number = {0};
        Cause first = new SampledCalls()
                .calls("Tracking.track", Phase.OWN, 150, samples -> {
                    boolean exchanges = number[0]++ % 5 == 4;
                    String frame = exchanges ? "org.apache.hc.core5.http.impl.io.HttpRequestExecutor/execute" : LEASE;
                    lookAtClient(samples, Phase.OWN, APACHE, frame);
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: called in Tracking.track");
        assertThat(first.change().text()).startsWith("allow more connections per route");
    }

    /**
     * Simulates exchanges that wait for a connection in four of five samples. Returns the cause that the diagnosis
     * names first.
     */
    private static Cause firstOfFullClient(double usualMillis) {
        int[] number = {0};
        return new SampledCalls()
                .usually("Tracking.track", Phase.HTTP, "GET stock:80", usualMillis)
                .calls("Tracking.track", Phase.HTTP, 4_000, samples -> {
                    boolean exchanges = number[0]++ % 5 == 4;
                    String frame = exchanges ? "org.apache.hc.core5.http.impl.io.HttpRequestExecutor/execute" : LEASE;
                    lookAtClient(samples, Phase.HTTP, APACHE, frame);
                })
                .causes()
                .get(0);
    }

    @Test
    void slowPeerThatKeepsTheConnectionsOfAClientInUseIsTheCause() {
        Cause first = firstOfFullClient(20);

        assertThat(first.title()).isEqualTo("SLOW HTTP PEER: GET stock:80");
        assertThat(first.change().text())
                .contains("keeps its connection for about 800 ms, usually 20 ms")
                .doesNotContain("allow more connections");
    }

    @Test
    void fullClientIsTheCauseIfExchangesKeepTheirConnectionsForTheUsualTime() {
        assertThat(firstOfFullClient(790).title()).isEqualTo("HTTP CONNECTIONS: GET stock:80");
    }

    @Test
    void adviceForAClientWhoseConnectionsNoExchangeUsesIsToCloseResponses() {
        Cause first = firstInClient(Phase.OWN, APACHE, LEASE);

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: called in Tracking.track");
        assertThat(first.change().text()).startsWith("close each response").contains("Tracking.track:7");
    }

    @Test
    void differentExchangesThatWaitForTheSameConnectionsAreOneCause() {
        List<Cause> causes = new SampledCalls()
                .waiting(
                        "Tracking.track",
                        "GET stock:80/levels",
                        150,
                        0,
                        samples -> lookAtClient(samples, Phase.HTTP, APACHE, LEASE))
                .waiting(
                        "Tracking.track",
                        "GET stock:80/rates",
                        150,
                        0,
                        samples -> lookAtClient(samples, Phase.HTTP, APACHE, LEASE))
                .causes();

        assertThat(causes).extracting(Cause::title).containsExactly("HTTP CONNECTIONS: stock:80");
    }

    @Test
    void clientWhoseExchangesEndGetsItsConnectionsBack() {
        Cause first = firstInClient(Phase.HTTP, APACHE, LEASE);

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: GET stock:80");
        assertThat(first.change().text()).startsWith("allow more connections per route");
    }

    @Test
    void connectionThatTakesLongIsAPeerThatDoesNotAcceptIt() {
        ThreadSnapshot thread = look(
                Thread.State.RUNNABLE,
                "sun.nio.ch.NioSocketImpl/connect",
                "okhttp3.Call/execute",
                "depot.Tracking/track");
        Cause first = new SampledCalls()
                .calls("Tracking.track", Phase.HTTP, 3_000, samples -> {
                    Sample look = SampledCalls.sample(Phase.HTTP, thread);
                    long at = 1 + samples.list.size() * 400_000_000L;
                    samples.add(new Sample(
                            at, Phase.HTTP, look.part(), look.path(), null, null, null, false, null, -1, -1));
                    samples.addStack(Phase.HTTP, thread, false);
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first))
                .isEqualTo("PEER FAILS: GET stock:80: connections are not accepted in time");
        assertThat(first.change().text()).startsWith("find out why GET stock:80 does not accept connections");
    }

    private static Cause firstIn(Thread.State state, String... frames) {
        ThreadSnapshot thread = look(state, frames);
        return new SampledCalls()
                .calls("Tracking.track", Phase.OWN, 150, samples -> samples.add(SampledCalls.sample(Phase.OWN, thread)))
                .causes()
                .get(0);
    }

    @Test
    void lockOfAFileIsHeldByAnotherProcess() {
        Cause first = firstIn(
                Thread.State.RUNNABLE,
                "sun.nio.ch.UnixFileDispatcherImpl/lock0",
                "sun.nio.ch.FileChannelImpl/lock",
                "depot.Tracking/track");

        assertThat(DiagnosisText.title(first)).isEqualTo("LOCK: file lock requested in Tracking.track");
        assertThat(first.change().text())
                .startsWith("release this lock of a file sooner in the other process")
                .contains("Tracking.track:7");
    }

    @Test
    void waitForTheEndOfAProgramIsNoWaitForAThread() {
        Cause first = firstIn(
                Thread.State.WAITING, "java.lang.Object/wait", "java.lang.ProcessImpl/waitFor", "depot.Tracking/track");

        assertThat(first.kind()).isEqualTo("CHILD PROCESS");
        assertThat(first.change().text())
                .startsWith("do not wait for another program within a call: start")
                .contains("the call waits for its end in Tracking.track:7");
    }

    @Test
    void waitForAResultMayBeAWaitForAServer() {
        Cause first = firstIn(
                Thread.State.WAITING,
                "java.util.concurrent.locks.LockSupport/park",
                "java.util.concurrent.CompletableFuture/join",
                "depot.Tracking/track");

        assertThat(first.kind()).isEqualTo("WAITS FOR A RESULT");
        assertThat(first.change().text()).contains("find out why the server answers slowly");
    }

    @Test
    void adviceForStatementsThatOpenConnectionsIsAPool() {
        Cause first = firstInClient(Phase.OWN, "org.postgresql.Driver/connect", "sun.nio.ch.NioSocketImpl/connect");

        assertThat(DiagnosisText.title(first)).isEqualTo("CONNECTIONS OPEN SLOWLY: opened in Tracking.track");
        assertThat(first.change().text()).startsWith("use a connection pool").contains("Tracking.track:7");
    }
}
