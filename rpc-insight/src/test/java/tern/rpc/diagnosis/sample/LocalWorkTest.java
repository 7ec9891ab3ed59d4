package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests waits in this process that the ledger records as a part of a client's operation. */
class LocalWorkTest {

    private static ThreadSnapshot thread(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 41))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker", 7, Thread.State.TIMED_WAITING, stack, null, null, -1, -1);
    }

    private static Cause first(Phase phase, ThreadSnapshot thread) {
        Part local = LocalWork.of(StackReader.read(thread), phase, thread);
        return new SampledCalls()
                .calls(
                        "web.GET /orders",
                        phase,
                        300,
                        samples -> samples.add(new Sample(
                                0,
                                phase,
                                local == null ? StackReader.read(thread) : local,
                                StackReader.path(thread),
                                CalledMethods.of(thread),
                                null,
                                null,
                                local != null,
                                null,
                                -1,
                                -1)))
                .causes()
                .get(0);
    }

    @Test
    void clientThatPausesBeforeItRepeatsARequestIsNamedInsteadOfThePeer() {
        Cause first = first(
                Phase.HTTP,
                thread(
                        "java.lang.Thread/sleep",
                        "org.apache.hc.core5.util.TimeValue/sleep",
                        "org.apache.hc.client5.http.impl.classic.HttpRequestRetryExec/execute",
                        "org.apache.hc.client5.http.impl.classic.CloseableHttpClient/execute",
                        "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE SLEEPS: Orders.find");
        assertThat(first.change().text())
                .contains("sleeps in Orders.find:41")
                .contains("find out which failed operation it repeats");
    }

    @Test
    void unmeasuredClientThatPausesBeforeItRepeatsARequestIsNamed() {
        ThreadSnapshot pauses = thread(
                "java.lang.Thread/sleep",
                "feign.Retryer$Default/continueOrPropagate",
                "feign.SynchronousMethodHandler/invoke",
                "shop.Orders/find");

        assertThat(StackReader.read(pauses)).isEqualTo(new Part(Kind.SLEEP, "Orders.find"));
    }

    @Test
    void clientThatWaitsForAnAnswerWaitsForThePeer() {
        Cause first = first(
                Phase.HTTP,
                thread(
                        "jdk.internal.misc.Unsafe/park",
                        "java.util.concurrent.CompletableFuture/get",
                        "jdk.internal.net.http.HttpClientImpl/send",
                        "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET stock:80");
    }

    @ParameterizedTest
    @CsvSource({"java.lang.Thread/sleep, SLEEP", "java.util.concurrent.locks.ReentrantLock/lock, LOCK"})
    void filterOfTheApplicationThatWaitsIsNamedInsteadOfTheProvider(String waits, Kind kind) {
        ThreadSnapshot inFilter = thread(
                waits,
                "shop.Tokens/refresh",
                "tern.rpc.client.ServiceProxy/filtered",
                "tern.rpc.client.ServiceProxy/invoke",
                "shop.Orders/find");

        Part local = LocalWork.of(StackReader.read(inFilter), Phase.RPC, inFilter);

        assertThat(local).isNotNull();
        assertThat(local.kind()).isEqualTo(kind);
        assertThat(local.name()).contains("Tokens.refresh");
    }

    @Test
    void callThatWaitsForItsProviderDoesNoLocalWork() {
        ThreadSnapshot waits = thread(
                "jdk.internal.misc.Unsafe/park",
                "java.util.concurrent.locks.LockSupport/park",
                "tern.rpc.transport.PendingCall/await",
                "tern.rpc.client.EndpointInvoker/callAndWait",
                "tern.rpc.client.ServiceProxy/invoke",
                "shop.Orders/find");

        assertThat(LocalWork.of(StackReader.read(waits), Phase.RPC, waits)).isNull();
    }

    @Test
    void databaseThatSleepsForALockIsNoPauseOfTheClient() {
        ThreadSnapshot waits = thread("java.lang.Thread/sleep", "org.h2.table.RegularTable/doLock", "shop.Orders/find");

        assertThat(LocalWork.of(StackReader.read(waits), Phase.SQL, waits)).isNull();
    }
}
