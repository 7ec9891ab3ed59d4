package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests calls whose code blocks the thread of an event loop. */
class EventLoopsTest {

    private static ThreadSnapshot look(String name, Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts ->
                        new StackTraceElement(parts[0], parts[1], null, parts[1].matches("read0|readBytes") ? -2 : 41))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot(name, 7, state, stack, null, null, -1, -1);
    }

    private static Cause first(ThreadSnapshot thread) {
        return new SampledCalls()
                .calls("web.GET /orders", Phase.OWN, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, thread));
                    samples.addStack(Phase.OWN, thread, false);
                })
                .causes()
                .get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "java.lang.Thread/sleep, java.lang.Thread/sleep",
        "jdk.internal.misc.Unsafe/park, reactor.core.publisher.BlockingSingleSubscriber/blockingGet",
        "sun.nio.ch.SocketDispatcher/read0, org.postgresql.core.VisibleBufferedInputStream/read",
        "sun.nio.ch.SocketDispatcher/read0, sun.nio.ch.NioSocketImpl/read",
        "java.io.FileInputStream/readBytes, java.io.FileInputStream/read",
        "jdk.internal.misc.Unsafe/park, com.zaxxer.hikari.pool.HikariPool/getConnection",
        "jdk.internal.misc.Unsafe/park, java.util.concurrent.CompletableFuture/get"
    })
    void waitOnAnEventLoopNamesTheLoopAndTheLine(String innermost, String called) {
        boolean isNative = innermost.endsWith("read0") || innermost.endsWith("readBytes");
        Cause first = first(look(
                "reactor-http-nio-3",
                isNative ? Thread.State.RUNNABLE : Thread.State.TIMED_WAITING,
                innermost,
                called,
                "shop.Orders/find",
                "reactor.core.publisher.FluxMap$MapSubscriber/onNext",
                "io.netty.channel.nio.NioIoHandler/run",
                "io.netty.channel.SingleThreadIoEventLoop/runIo",
                "io.netty.util.concurrent.SingleThreadEventExecutor$5/run",
                "java.lang.Thread/run"));

        assertThat(DiagnosisText.title(first)).isEqualTo("EVENT LOOP BLOCKED: Orders.find");
        assertThat(first.change().text())
                .startsWith("move the code at Orders.find:41")
                .contains("off the event loop reactor-http-nio-3:");
    }

    @Test
    void waitOnAThreadOfTheParallelSchedulerNamesIt() {
        Cause first = first(look(
                "parallel-2",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                "reactor.core.scheduler.WorkerTask/call",
                "java.util.concurrent.ThreadPoolExecutor$Worker/run"));

        assertThat(first.change().text()).contains("at Orders.find:41").contains("off the event loop parallel-2:");
    }

    @Test
    void requestsThatWaitForABlockedLoopHaveItsCause() {
        ThreadSnapshot thread = look(
                "reactor-http-nio-3",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                "io.netty.channel.SingleThreadIoEventLoop/runIo");

        Cause first = new SampledCalls()
                .queued("web.GET /orders", 150, 60, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, thread));
                    samples.addStack(Phase.OWN, thread, false);
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("EVENT LOOP BLOCKED: Orders.find");
        assertThat(first.ms()).isGreaterThan(200);
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for their event loop"));
    }

    @Test
    void waitOnAThreadForBlockingWorkBlocksNoLoop() {
        Cause first = first(look(
                "boundedElastic-1",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                "reactor.core.scheduler.WorkerTask/call",
                "java.util.concurrent.ThreadPoolExecutor$Worker/run"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE SLEEPS: Orders.find");
        assertThat(first.evidence()).noneMatch(line -> line.contains("loop"));
    }

    @Test
    void threadOfNettyForBlockingWorkIsNoLoop() {
        Cause first = first(look(
                "handlers-1",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                "io.netty.util.concurrent.DefaultEventExecutor/run",
                "io.netty.util.concurrent.SingleThreadEventExecutor$5/run"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE SLEEPS: Orders.find");
    }

    @Test
    void codeThatComputesOnAnEventLoopStaysTheCause() {
        Cause first = first(look(
                "reactor-http-nio-3",
                Thread.State.RUNNABLE,
                "shop.Orders/find",
                "io.netty.channel.SingleThreadIoEventLoop/runIo"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Orders.find");
        assertThat(first.evidence()).anyMatch(line -> line.contains("runs on the event loop reactor-http-nio-3"));
    }

    @Test
    void lockThatAnEventLoopWaitsForStaysTheCause() {
        Cause first = first(look(
                "reactor-http-nio-3",
                Thread.State.BLOCKED,
                "shop.Orders/find",
                "io.netty.channel.SingleThreadIoEventLoop/runIo"));

        assertThat(first.kind()).isEqualTo("LOCK");
    }

    private static ThreadSnapshot readsRows(String... outer) {
        String[] frames = Stream.concat(
                        Stream.of(
                                "sun.nio.ch.SocketDispatcher/read0",
                                "sun.nio.ch.NioSocketImpl/read",
                                "org.postgresql.core.VisibleBufferedInputStream/read",
                                "org.postgresql.jdbc.PgStatement/executeQuery",
                                "shop.Orders/find"),
                        Stream.of(outer))
                .toArray(String[]::new);
        return look("reactor-http-nio-3", Thread.State.RUNNABLE, frames);
    }

    private static void sample(SampledCall samples, Phase phase, ThreadSnapshot thread) {
        samples.add(SampledCalls.sample(phase, thread));
        samples.addStack(phase, thread, false);
    }

    @Test
    void measuredOperationThatBlocksALoopStaysTheCauseAndNamesTheLoop() {
        ThreadSnapshot thread = readsRows("io.netty.channel.SingleThreadIoEventLoop/runIo");
        Cause first = new SampledCalls()
                .calls("web.GET /orders", Phase.SQL, 300, samples -> sample(samples, Phase.SQL, thread))
                .causes()
                .get(0);

        assertThat(first.kind()).isEqualTo("SLOW STATEMENT");
        assertThat(first.evidence()).anyMatch(line -> line.contains("runs on the event loop reactor-http-nio-3"));
    }

    @Test
    void requestsThatWaitForALoopBlockedByAMeasuredOperationHaveItsCause() {
        ThreadSnapshot thread = readsRows("io.netty.channel.SingleThreadIoEventLoop/runIo");
        Cause first = new SampledCalls()
                .waitingForThread("web.GET /orders", 150, Phase.SQL, 30, samples -> sample(samples, Phase.SQL, thread))
                .usually("web.GET /orders", Phase.SQL, "select orders", 30)
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("EVENT LOOP BLOCKED: Orders.find");
        assertThat(first.change().text()).contains("off the event loop reactor-http-nio-3:");
    }

    @Test
    void exchangeThatALoopOnlyStartedDoesNotBlockIt() {
        ThreadSnapshot thread = look(
                "reactor-http-nio-3",
                Thread.State.RUNNABLE,
                "shop.Orders/find",
                "io.netty.channel.SingleThreadIoEventLoop/runIo");
        Cause first = new SampledCalls()
                .calls("web.GET /orders", Phase.HTTP, 300, samples -> sample(samples, Phase.OWN, thread))
                .causes()
                .get(0);

        assertThat(first.kind()).isEqualTo("SLOW HTTP PEER");
        assertThat(first.evidence()).noneMatch(line -> line.contains("loop"));
    }

    @ParameterizedTest
    @CsvSource({
        "kotlinx.coroutines.EventLoopImplBase/processNextEvent, kotlinx.coroutines.BuildersKt/runBlocking",
        "shop.OrderEventLoop/run, shop.OrderEventLoop/start"
    })
    void classWithASimilarNameIsNoEventLoop(String inner, String outer) {
        Cause first = first(look(
                "http-nio-8080-exec-3",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                inner,
                outer,
                "org.apache.catalina.core.ApplicationFilterChain/doFilter"));

        assertThat(first.kind()).isEqualTo("CODE SLEEPS");
    }

    @Test
    void copiedNettyHasEventLoops() {
        Cause first = first(look(
                "grpc-default-worker-ELG-1",
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "shop.Orders/find",
                "io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoop/run"));

        assertThat(first.kind()).isEqualTo("EVENT LOOP BLOCKED");
    }
}
