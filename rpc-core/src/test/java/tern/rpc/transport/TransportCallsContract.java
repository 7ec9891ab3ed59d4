package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static tern.rpc.transport.TransportTest.take;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Deadline;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.ServiceReference;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests the kinds of calls, their headers and deadlines, and the server's answers to calls that it does not run. */
interface TransportCallsContract extends TransportContract {

    @Test
    default void asynchronousResultCompletesTheFuture() throws Exception {
        ContractService proxy = proxy();

        CompletableFuture<String> future = proxy.later("x");
        assertThat(proxy.echo("meanwhile")).isEqualTo("meanwhile");
        assertThat(future).isNotDone();
        service().later.complete("done");

        assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(proxy.later("now").get(20, TimeUnit.SECONDS)).isEqualTo("at once");
    }

    @Test
    default void nullInPlaceOfAFutureIsAFailureThatNamesTheMethod() {
        ContractService proxy = proxy();

        assertReturnsNull(proxy);
        assertThat(proxy.echo("still works")).isEqualTo("still works");
    }

    @Test
    default void nullInPlaceOfAFutureIsAFailureBehindFiltersToo() {
        serve(settings -> settings.filter((call, next) -> next.invoke(call)));

        assertReturnsNull(refer(client -> {}, reference -> {}));
    }

    private static void assertReturnsNull(ContractService proxy) {
        assertThatThrownBy(() -> proxy.later("null").get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                    assertThat(failure).hasMessageContaining("/later returned null instead of a CompletionStage");
                });
    }

    @Test
    default void asynchronousFailureFailsTheFuture() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.failsLater("oh").toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("oh");
    }

    @Test
    default void cancelledFutureEndsTheCall() throws Exception {
        ContractService proxy = proxy();
        CompletableFuture<String> future = proxy.later("x");

        assertThat(future.cancel(true)).isTrue();

        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(proxy.echo("still works")).isEqualTo("still works");
    }

    @Test
    default void cancelledFutureEndsTheCallBehindFiltersToo() throws Exception {
        serve(settings -> {});
        AtomicReference<Throwable> seen = new AtomicReference<>();
        CountDownLatch ended = new CountDownLatch(1);
        ClientFilter filter = (call, next) -> next.invoke(call).whenComplete((response, failure) -> {
            seen.set(failure);
            ended.countDown();
        });
        ContractService proxy = refer(client -> client.filter(filter), reference -> {});

        assertThat(proxy.later("x").cancel(true)).isTrue();

        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(seen.get()).isInstanceOf(RpcException.class).hasMessageContaining("CANCELLED");
    }

    @Test
    default void interruptedCallerGetsCancelledAndKeepsItsInterruptFlag() throws Exception {
        ContractService proxy = proxy();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        AtomicReference<Thread> caller = new AtomicReference<>();
        Future<RpcException> failure = inBackground(() -> {
            caller.set(Thread.currentThread());
            RpcException caught = catchThrowableOfType(RpcException.class, () -> proxy.blocks("x"));
            flag.set(Thread.currentThread().isInterrupted());
            return caught;
        });
        take(service().blocked);

        caller.get().interrupt();

        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(flag.get()).isTrue();
    }

    /** Runs a task on a thread that the client considers an event loop. Returns the exception that the task throws. */
    static @Nullable Throwable onAnEventLoop(ThrowingCallable task) throws Exception {
        class Loop extends Thread implements EventLoopThread {
            private final CompletableFuture<@Nullable Throwable> thrown = new CompletableFuture<>();

            @Override
            public void run() {
                thrown.complete(catchThrowable(task));
            }
        }
        Loop loop = new Loop();
        loop.setName("loop-1");
        loop.start();
        return loop.thrown.get(20, TimeUnit.SECONDS);
    }

    /** A wait on an event loop would never end, because only this event loop could read the answer. */
    @Test
    default void eventLoopDoesNotWaitForAnswers() throws Exception {
        ContractService plain = proxy();
        ContractService filtered = refer(client -> client.filter((call, next) -> next.invoke(call)), reference -> {});

        for (ContractService each : List.of(plain, filtered)) {
            for (ThrowingCallable wait : List.<ThrowingCallable>of(
                    () -> each.echo("x"),
                    () -> each.later("never").join(),
                    () -> each.later("never").get(),
                    () -> each.later("never").get(1, TimeUnit.HOURS),
                    () -> each.later("never").thenApply(String::length).join())) {
                assertThat(onAnEventLoop(wait))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would block the event loop loop-1");
            }
            assertThat(onAnEventLoop(() -> each.later("now"))).isNull();
            assertThat(each.echo("x")).isEqualTo("x");
        }
    }

    @Test
    default void oneWayCallEndsWithoutAnAnswer() throws Exception {
        proxy().tell("news");

        assertThat(take(service().told)).isEqualTo("news");
    }

    @Test
    default void headersAreSentInBothDirections() {
        ContractService proxy = proxy();
        AtomicReference<Metadata> seen = new AtomicReference<>();

        String text = CallOptions.none()
                .header("Tenant", "blue")
                .onResponseTrailers(seen::set)
                .on(proxy)
                .header("tenant");
        String bytes =
                CallOptions.none().header("blob", new byte[] {1, 2}).on(proxy).header("blob");

        assertThat(text).isEqualTo("blue");
        assertThat(bytes).isEqualTo("bytes 2");
        assertThat(seen.get().get("answer-header")).isEqualTo("sent back");
        assertThat(seen.get().getBytes("bytes")).containsExactly(1, 2, 3);
        assertThat(proxy.header("tenant")).isEqualTo("none");
    }

    @Test
    default void binaryHeaderIsFoundWithAndWithoutTheSuffixThatGrpcAsksFor() {
        ContractService proxy = proxy();
        List<Metadata> seen = new ArrayList<>();
        for (String written : List.of("trace", "trace-bin")) {
            for (String asked : List.of("trace", "trace-bin")) {
                assertThat(CallOptions.none()
                                .header(written, new byte[] {1, 2})
                                .onResponseTrailers(seen::add)
                                .on(proxy)
                                .header(asked))
                        .as("%s as %s", written, asked)
                        .isEqualTo("bytes 2");
            }
        }
        assertThat(seen)
                .hasSize(4)
                .allSatisfy(
                        trailers -> assertThat(trailers.getBytes("bytes-bin")).containsExactly(1, 2, 3));
    }

    @Test
    default void deadlineIsSentToTheServer() {
        ContractService proxy = proxy();

        assertThat(proxy.remainingMillis()).isBetween(1L, LONG.toMillis());
        assertThat(CallOptions.none().timeout(Duration.ofSeconds(15)).on(proxy).remainingMillis())
                .isBetween(1L, 15_000L);
    }

    @Test
    default void timeoutNamesEndpointDurationAndSetting() {
        serve(settings -> {});
        ContractService plain = refer(client -> {}, reference -> {});
        ContractService filtered = refer(client -> client.filter((call, next) -> next.invoke(call)), reference -> {});

        for (ContractService proxy : List.of(plain, filtered)) {
            assertThatThrownBy(() -> CallOptions.none()
                            .timeout(Duration.ofMillis(150))
                            .on(proxy)
                            .blocksBriefly("x"))
                    .hasMessageStartingWith("DEADLINE_EXCEEDED: ContractService/blocksBriefly")
                    .hasMessageContaining("150 ms (CallOptions.timeout)")
                    .hasMessageNotContaining("filter")
                    .hasMessageNotContaining("status")
                    .hasMessageContaining(serverEndpoint().toString());
        }
    }

    @Test
    default void lateCallNamesTheNearestSetting() {
        serve(settings -> {});
        Duration time = Duration.ofMillis(150);
        List<String> said = new ArrayList<>();
        List<Consumer<ServiceReference.Builder<ContractService>>> settings = List.of(
                reference -> {},
                reference -> reference.defaults(MethodSettings.NONE.withTimeout(time, "that of the service")),
                reference -> reference
                        .defaults(MethodSettings.NONE.withTimeout(time, "that of the service"))
                        .method("blocksBriefly", MethodSettings.NONE.withTimeout(time, "that of the method")));
        for (Consumer<ServiceReference.Builder<ContractService>> setting : settings) {
            ContractService proxy = refer(client -> {}, setting);
            String message = catchThrowableOfType(RpcException.class, () -> proxy.blocksBriefly("x"))
                    .getMessage();
            // The message has a second part if the server has not sent any bytes on its connection. The test removes
            // this part.
            said.add(message.substring(message.lastIndexOf(" ms (") + 5).replaceFirst("; the server accepted .*", ""));
        }

        assertThat(said)
                .containsExactly(
                        "@RpcMethod(timeout) of ContractService/blocksBriefly)",
                        "that of the service)",
                        "that of the method)");
    }

    @Test
    default void callFailsAtItsDeadlineAndTheMethodLearnsOfIt() throws Exception {
        ContractService proxy = proxy();

        RpcException failure;
        // On a busy machine, the deadline may pass before the method begins. The method then does not run, and the call
        // is repeated.
        do {
            failure = catchThrowableOfType(RpcException.class, () -> proxy.blocksBriefly("x"));
        } while (service().blocked.poll() == null);

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(take(service().cancelled)).isEqualTo("x");
    }

    @Test
    default void deadlineOfTheCallBeingServedLimitsTheNextHop() {
        ContractService proxy = proxy();
        AtomicReference<Long> left = new AtomicReference<>();
        ServerFilter nextHop = (call, next) -> {
            left.compareAndSet(null, proxy.remainingMillis());
            return next.invoke(call);
        };
        serve(settings -> settings.filter(nextHop));
        ContractService outer = refer(client -> {}, reference -> {});

        CallOptions.none().timeout(Duration.ofSeconds(15)).on(outer).echo("x");

        assertThat(left.get()).isBetween(1L, 15_000L);
    }

    @Test
    default void unknownGroupIsRefusedAsNotExecuted() {
        serve(settings -> {});
        ContractService proxy = refer(client -> {}, reference -> reference.group("nobody"));

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure)
                .hasMessageContaining("nobody/" + ContractService.class.getName())
                .hasMessageContaining("exported services: " + ContractService.class.getName());
    }

    @Test
    default void groupAndVersionChooseTheExport() {
        ContractServer other = new ContractServer() {
            @Override
            public String echo(String text) {
                return "blue " + text;
            }
        };
        serve(settings -> settings.export(ServiceExport.of(ContractService.class, other, "blue", "1.2")));
        ContractService blue =
                refer(client -> {}, reference -> reference.group("blue").version("1.2"));
        ContractService plain = refer(client -> {}, reference -> reference.version("0.0.0"));

        assertThat(blue.echo("x")).isEqualTo("blue x");
        assertThat(plain.echo("x")).isEqualTo("x");
    }

    @Test
    default void fullServerRefusesAtOnceAsNotExecuted() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        RpcMeters meters = new RpcMeters(registry, Slo.DEFAULT);
        serve(settings ->
                settings.workers(1, 0).maxQueueWait(Duration.ofSeconds(10)).meters(meters));
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> first = inBackground(() -> proxy.blocks("first"));
        take(service().blocked);

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("second"));

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining("1 of 1 workers").hasMessageContaining("rpc.server.threads");
        assertThat(registry.get(RpcMeter.SERVER_WORKERS_REJECTED.key())
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        service().letGo.countDown();
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("first");
    }

    @Test
    default void callThatFindsNoWorkerInTimeIsNotRun() throws Exception {
        serve(settings -> settings.workers(1, 10).maxQueueWait(Duration.ofMillis(30)));
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> first = inBackground(() -> servedAtLast(() -> proxy.blocks("first")));
        take(service().blocked);

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.nothing("second"));

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining("30 ms");
        service().letGo.countDown();
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("first");
        assertThat(servedAtLast(() -> proxy.echo("third"))).isEqualTo("third");
        assertThat(service().told).isEmpty();
    }

    /** Repeats the call until it succeeds. On a busy machine, the only worker may start the call after its deadline. */
    private static @Nullable String servedAtLast(Supplier<@Nullable String> call) {
        while (true) {
            try {
                return call.get();
            } catch (RpcException e) {
                assertThat(e.wasExecuted()).isEqualTo(Executed.NO);
            }
        }
    }

    @Test
    default void manyCallersShareTheWireWithoutMixingAnswers() throws Exception {
        ContractService proxy = proxy();
        List<Future<Boolean>> results = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        for (int caller = 0; caller < 32; caller++) {
            String prefix = "caller " + caller + " call ";
            results.add(inBackground(() -> {
                start.await();
                for (int i = 0; i < 200; i++) {
                    if (!(prefix + i).equals(proxy.echo(prefix + i))) {
                        return false;
                    }
                }
                return true;
            }));
        }
        start.countDown();

        for (Future<Boolean> result : results) {
            assertThat(result.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    default void callsRunningWhileTheServerDrainsAreAnswered() throws Exception {
        RpcServer server = serve(settings -> {});
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> running = inBackground(() -> proxy.blocks("running"));
        take(service().blocked);
        Future<?> drained = inBackground(() -> {
            server.drain(Duration.ofSeconds(20));
            return null;
        });

        service().letGo.countDown();

        assertThat(running.get(20, TimeUnit.SECONDS)).isEqualTo("running");
        drained.get(20, TimeUnit.SECONDS);
        server.close();
        assertThatThrownBy(() -> proxy.echo("x")).isInstanceOf(RpcException.class);
    }

    @Test
    default void closedServerFailsRunningCalls() throws Exception {
        RpcServer server = serve(settings -> {});
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<RpcException> running =
                inBackground(() -> catchThrowableOfType(RpcException.class, () -> proxy.blocks("running")));
        take(service().blocked);

        server.close();

        RpcException failure = running.get(20, TimeUnit.SECONDS);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(take(service().cancelled)).isEqualTo("running");
    }

    @Test
    default void failingCancelListenerDoesNotStopTheTimeLimitsOfOthers() throws Exception {
        serve(settings -> settings.filter((call, next) -> {
            ServerContext context = ServerContext.current();
            if (context != null) {
                context.onCancel(() -> {
                    throw new IllegalStateException("on purpose");
                });
            }
            return next.invoke(call);
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        for (int i = 0; i < 2; i++) {
            // On a busy machine, the deadline may pass before the method begins. The method then does not run, and the
            // call is repeated.
            do {
                RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.blocksBriefly("x"));
                assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            } while (service().blocked.poll() == null);
            assertThat(take(service().cancelled)).isEqualTo("x");
        }
    }

    @Test
    default void expiredCallIsNotSent() {
        serve(settings -> settings.filter((call, next) -> {
            service().told.add(call.method().name());
            return next.invoke(call);
        }));
        ClientFilter late =
                (call, next) -> next.invoke(call.withDeadline(Deadline.at(NanoClock.SYSTEM.nanoTime() - 1)));
        ContractService proxy = refer(client -> client.filter(late), reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(service().told).isEmpty();
    }
}
