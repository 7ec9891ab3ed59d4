package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Deadline;
import tern.rpc.Filter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ContractService.Colour;
import tern.rpc.transport.ContractService.Item;
import tern.rpc.transport.ContractService.Point;
import tern.rpc.transport.ContractService.Refused;

/** The tests that every transport must pass. Each transport has a subclass of this class. */
@Timeout(60)
public abstract class TransportContractTest extends TransportTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    protected final ContractServer service = new ContractServer();

    /**
     * Returns whether the tested transport preserves exception types. Plain JSON transmits only a status code and a
     * message.
     */
    protected boolean carriesExceptions() {
        return true;
    }

    @Override
    protected void letGo() {
        service.letGo.countDown();
    }

    protected RpcServer serve(Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder =
                RpcServer.builder(newServerTransport()).export(ServiceExport.of(ContractService.class, service));
        settings.accept(builder);
        RpcServer server = builder.build();
        closeLater(server);
        server.start();
        return server;
    }

    private void serveOnly(ServiceExport export) {
        RpcServer server =
                RpcServer.builder(newServerTransport()).export(export).build();
        closeLater(server);
        server.start();
    }

    protected ContractService refer(
            Consumer<RpcClient.Builder> client, Consumer<ServiceReference.Builder<ContractService>> reference) {
        ClientTransport transport = newClientTransport();
        RpcClient.Builder builder = RpcClient.builder().transport(transport).timeout(LONG);
        client.accept(builder);
        ServiceReference.Builder<ContractService> to = ServiceReference.to(
                        ContractService.class, new StaticEndpoints(List.of(endpoint())))
                .protocol(transport.protocol());
        reference.accept(to);
        RpcClient made = builder.build();
        closeLater(made);
        return made.refer(to.build());
    }

    protected ContractService proxy() {
        serve(settings -> {});
        return refer(client -> {}, reference -> {});
    }

    private static Item item() {
        Item item = new Item();
        item.id = 1L << 40;
        item.weight = 2.5f;
        item.letter = 'é';
        item.size = -7;
        item.flags = (byte) 0x81;
        item.active = true;
        item.name = "hé中😀";
        item.colour = Colour.GREEN;
        item.price = new BigDecimal("12.50");
        item.made = Instant.ofEpochSecond(1_700_000_000L, 5);
        item.sold = LocalDate.of(2024, 1, 2);
        item.tags = new ArrayList<>(List.of("a", "b"));
        item.places = Map.of("home", new Point(1, 2));
        item.parent = new Item();
        return item;
    }

    @Test
    void valuesOfEveryKindArriveAsTheyWere() {
        ContractService proxy = proxy();

        assertThat(proxy.echo("hello")).isEqualTo("hello");
        assertThat(proxy.echo(null)).isNull();
        assertThat(proxy.add(1, 2)).isEqualTo(3);
        assertThat(proxy.add(1L, 2L)).isEqualTo(1_003L);
        assertThat(proxy.item(item())).isEqualTo(item());
        assertThat(proxy.point(new Point(3, 4))).isEqualTo(new Point(4, 3));
        assertThat(proxy.colour(Colour.GREEN)).isSameAs(Colour.GREEN);
        assertThat(proxy.nested(Map.of("k", List.of(new Point(1, 1)))))
                .isEqualTo(Map.of("k", List.of(new Point(1, 1))));
        assertThat(proxy.bytes(new byte[] {0, 1, -1})).containsExactly(0, 1, -1);
        assertThat(proxy.byKeys(List.of(5L, 6L))).extracting(item -> item.id).containsExactly(5L, 6L);
    }

    @Test
    void voidMethodReturnsAfterItRan() {
        proxy().nothing("done");

        assertThat(service.told).containsExactly("done");
    }

    @Test
    void messageOfAMegabyteArrives() {
        byte[] large = new byte[1 << 20];
        large[large.length - 1] = 7;

        assertThat(proxy().bytes(large)).isEqualTo(large);
    }

    @Test
    void proxyAnswersObjectMethodsAndDefaultMethodsItself() {
        ContractService proxy = proxy();

        assertThat(proxy.equals(proxy)).isTrue();
        assertThat(proxy.equals(null)).isFalse();
        assertThat(proxy.hashCode()).isEqualTo(proxy.hashCode());
        assertThat(proxy).hasToString("proxy of " + ContractService.class.getName());
    }

    @Test
    void defaultMethodRunsAtTheProviderUnlessItIsLocal() {
        ContractService proxy = proxy();

        assertThat(proxy.greeting("Ann")).isEqualTo("welcome Ann");
        assertThat(proxy.shout("ann", String::toUpperCase)).isEqualTo("ANN");
    }

    /** A copy of {@link ContractService} without its default method, like the interface of an older provider. */
    @WireName("tern.rpc.transport.ContractService")
    interface OlderService {
        String echo(String text);
    }

    @Test
    void defaultMethodThatAnOlderProviderDoesNotHaveRunsAtTheCaller() {
        serveOnly(ServiceExport.of(OlderService.class, text -> text));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThat(proxy.greeting("Ann")).isEqualTo("hello Ann");
        assertThatThrownBy(() -> proxy.header("x")).isInstanceOfSatisfying(RpcException.class, failure -> {
            assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        });
    }

    @Test
    void defaultMethodDoesNotHideThatTheServiceIsNotThere() {
        serveOnly(ServiceExport.of(OlderService.class, text -> text));
        for (ContractService proxy : List.of(
                refer(client -> {}, reference -> reference.version("2.0")),
                refer(client -> {}, reference -> reference.group("blue")))) {
            assertThatThrownBy(() -> proxy.greeting("Ann")).isInstanceOfSatisfying(RpcException.class, failure -> {
                assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
                assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                assertThat(failure).hasMessageContaining("is not exported here");
            });
        }
    }

    @Test
    void declaredExceptionArrivesWithItsFields() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        Refused refused = catchThrowableOfType(Refused.class, () -> proxy.fails("declared"));

        assertThat(refused).hasMessage("not today");
        assertThat(refused.code()).isEqualTo(42);
    }

    @Test
    void standardExceptionArrivesTypedWithItsCause() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("standard"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bad")
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cause");
    }

    @Test
    void exceptionUnknownToCallersIsDescribedInText() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("secret"))
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                })
                .message()
                .matches("UNKNOWN: ContractService/fails at .+ failed with tern\\.rpc\\.StrangeException"
                        + " \\(logged by the server as [0-9a-f]{8}\\)");
    }

    @Test
    void textOfAnExceptionThatCallersCannotKnowTravelsWhereTheServerAllowsIt() {
        assumeTrue(carriesExceptions());
        serve(settings -> settings.exceptionTexts(true));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThatThrownBy(() -> proxy.fails("secret"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("tern.rpc.StrangeException: inner (logged by the server as ");
    }

    @Test
    void errorOfTheServerIsNoErrorOfTheCaller() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("error"))
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                })
                .hasMessageContaining("StackOverflowError");
    }

    @Test
    void traceOfARemoteFailureHasOneFrameForTheServerAndThenTheCaller() {
        ContractService proxy = proxy();

        for (String how : List.of("declared", "standard", "secret", "error", "status")) {
            Throwable failure = catchThrowable(() -> proxy.fails(how));

            StackTraceElement[] frames = failure.getStackTrace();
            assertThat(frames[0].getClassName()).as(how).isEqualTo(ContractService.class.getName());
            assertThat(frames[0].getMethodName()).as(how).isEqualTo("fails");
            assertThat(frames[0].getFileName()).as(how).startsWith("on ");
            assertThat(frames[1].getClassName()).as(how).startsWith(TransportContractTest.class.getName());
        }
    }

    @Test
    void statusThatTheServiceChoseArrives() {
        ContractService proxy = proxy();

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.fails("status"));

        assertThat(failure.code()).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(failure).hasMessageContaining("no such item");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }

    @ParameterizedTest
    @EnumSource(value = StatusCode.class, mode = EnumSource.Mode.EXCLUDE, names = "OK")
    void methodThatChoosesAStatusRan(StatusCode code) {
        ContractService proxy = proxy();

        RpcException failure =
                catchThrowableOfType(RpcException.class, () -> proxy.fails(ContractServer.STATUS + code));

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }

    @Test
    void asynchronousResultCompletesTheFuture() throws Exception {
        ContractService proxy = proxy();

        CompletableFuture<String> future = proxy.later("x");
        assertThat(proxy.echo("meanwhile")).isEqualTo("meanwhile");
        assertThat(future).isNotDone();
        service.later.complete("done");

        assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(proxy.later("now").get(20, TimeUnit.SECONDS)).isEqualTo("at once");
    }

    @Test
    void asynchronousFailureFailsTheFuture() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.failsLater("oh").toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("oh");
    }

    @Test
    void cancelledFutureEndsTheCall() throws Exception {
        ContractService proxy = proxy();
        CompletableFuture<String> future = proxy.later("x");

        assertThat(future.cancel(true)).isTrue();

        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(proxy.echo("still works")).isEqualTo("still works");
    }

    @Test
    void cancelledFutureEndsTheCallBehindFiltersToo() throws Exception {
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
    void interruptedCallerGetsCancelledAndKeepsItsInterruptFlag() throws Exception {
        ContractService proxy = proxy();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        AtomicReference<Thread> caller = new AtomicReference<>();
        Future<RpcException> failure = inBackground(() -> {
            caller.set(Thread.currentThread());
            RpcException caught = catchThrowableOfType(RpcException.class, () -> proxy.blocks("x"));
            flag.set(Thread.currentThread().isInterrupted());
            return caught;
        });
        take(service.blocked);

        caller.get().interrupt();

        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(flag.get()).isTrue();
    }

    @Test
    void oneWayCallEndsWithoutAnAnswer() throws Exception {
        proxy().tell("news");

        assertThat(take(service.told)).isEqualTo("news");
    }

    @Test
    void headersTravelBothWays() {
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
    void binaryHeaderIsFoundWithAndWithoutTheSuffixThatGrpcAsksFor() {
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
    void deadlineTravelsToTheServer() {
        ContractService proxy = proxy();

        assertThat(proxy.remainingMillis()).isBetween(1L, LONG.toMillis());
        assertThat(CallOptions.none().timeout(Duration.ofSeconds(15)).on(proxy).remainingMillis())
                .isBetween(1L, 15_000L);
    }

    @Test
    void timeoutNamesEndpointDurationAndSetting() {
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
                    .hasMessageContaining(endpoint().toString());
        }
    }

    @Test
    void lateCallNamesTheNearestSetting() {
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
    void callFailsAtItsDeadlineAndTheMethodLearnsOfIt() throws Exception {
        ContractService proxy = proxy();

        RpcException failure;
        // The loop repeats the call, because on a busy machine the call's deadline may pass before the method begins,
        // and in this case the method does not run.
        do {
            failure = catchThrowableOfType(RpcException.class, () -> proxy.blocksBriefly("x"));
        } while (service.blocked.poll() == null);

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(take(service.cancelled)).isEqualTo("x");
    }

    @Test
    void deadlineOfTheCallBeingServedLimitsTheNextHop() {
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
    void unknownGroupIsRefusedAsNotExecuted() {
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
    void groupAndVersionChooseTheExport() {
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
    void fullServerRefusesAtOnceAsNotExecuted() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        RpcMeters meters = new RpcMeters(registry, Slo.DEFAULT);
        serve(settings ->
                settings.workers(1, 0).maxQueueWait(Duration.ofSeconds(10)).meters(meters));
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> first = inBackground(() -> proxy.blocks("first"));
        take(service.blocked);

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("second"));

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining("1 of 1 workers").hasMessageContaining("rpc.server.threads");
        assertThat(registry.get(RpcMeter.SERVER_WORKERS_REJECTED.key())
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        service.letGo.countDown();
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("first");
    }

    @Test
    void callThatFindsNoWorkerInTimeIsNotRun() throws Exception {
        serve(settings -> settings.workers(1, 10).maxQueueWait(Duration.ofMillis(30)));
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> first = inBackground(() -> servedAtLast(() -> proxy.blocks("first")));
        take(service.blocked);

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.nothing("second"));

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining("30 ms");
        service.letGo.countDown();
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("first");
        assertThat(servedAtLast(() -> proxy.echo("third"))).isEqualTo("third");
        assertThat(service.told).isEmpty();
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
    void filtersRunInOrderOnBothSides() {
        List<String> order = new CopyOnWriteArrayList<>();
        serve(settings -> settings.filter(noting(order, "server 1")::invoke).filter(noting(order, "server 2")::invoke));
        ContractService proxy = refer(
                client -> client.filter(noting(order, "client 1")::invoke).filter(noting(order, "client 2")::invoke),
                reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("x");

        assertThat(order)
                .containsExactly(
                        "client 1 before",
                        "client 2 before",
                        "server 1 before",
                        "server 2 before",
                        "server 2 after",
                        "server 1 after",
                        "client 2 after",
                        "client 1 after");
    }

    private static Filter noting(List<String> order, String name) {
        return (call, next) -> {
            order.add(name + " before");
            return next.invoke(call).whenComplete((response, failure) -> order.add(name + " after"));
        };
    }

    @Test
    void blockingCallWithFiltersCompletesOnTheCallersThread() {
        serve(settings -> {});
        AtomicReference<Thread> completedOn = new AtomicReference<>();
        ClientFilter filter = (call, next) -> next.invoke(call).thenApply(response -> {
            completedOn.set(Thread.currentThread());
            return response.withValue("filtered " + response.value());
        });
        ContractService proxy = refer(client -> client.filter(filter), reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("filtered x");
        assertThat(completedOn.get()).isSameAs(Thread.currentThread());
    }

    @Test
    void filterMayAnswerInPlaceOfTheService() {
        serve(settings -> settings.filter((call, next) -> CompletableFuture.completedFuture(Response.of("cached"))));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("cached");
    }

    @Test
    void manyCallersShareTheWireWithoutMixingAnswers() throws Exception {
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
    void callsRunningWhileTheServerDrainsAreAnswered() throws Exception {
        RpcServer server = serve(settings -> {});
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<String> running = inBackground(() -> proxy.blocks("running"));
        take(service.blocked);
        Future<?> drained = inBackground(() -> {
            server.drain(Duration.ofSeconds(20));
            return null;
        });

        service.letGo.countDown();

        assertThat(running.get(20, TimeUnit.SECONDS)).isEqualTo("running");
        drained.get(20, TimeUnit.SECONDS);
        server.close();
        assertThatThrownBy(() -> proxy.echo("x")).isInstanceOf(RpcException.class);
    }

    @Test
    void closedServerFailsRunningCalls() throws Exception {
        RpcServer server = serve(settings -> {});
        ContractService proxy = refer(client -> {}, reference -> {});
        Future<RpcException> running =
                inBackground(() -> catchThrowableOfType(RpcException.class, () -> proxy.blocks("running")));
        take(service.blocked);

        server.close();

        RpcException failure = running.get(20, TimeUnit.SECONDS);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(take(service.cancelled)).isEqualTo("running");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void filterThatFailsAfterTheMethodRanDoesNotSayThatItDidNot(boolean throwsIt) {
        RpcException away = RpcException.refusal(StatusCode.UNAVAILABLE, "the audit is away", Executed.NO);
        serve(settings -> settings.filter((call, next) -> {
            CompletionStage<Response> answer = next.invoke(call);
            if (throwsIt) {
                throw away;
            }
            return answer.thenCompose(ran -> CompletableFuture.failedFuture(away));
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("the audit is away");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }

    @Test
    void filterThatRefusesBeforeTheMethodRunsSaysThatItDidNot() {
        serve(settings -> settings.filter((call, next) -> {
            throw RpcException.refusal(StatusCode.UNAVAILABLE, "the audit is away", Executed.NO);
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void filterWithoutAResponseIsReportedOnBothSides() {
        serve(settings -> settings.filter((call, next) ->
                call.method().name().equals("echo") ? CompletableFuture.completedFuture(null) : next.invoke(call)));
        ContractService proxy = refer(client -> {}, reference -> {});
        ContractService filtered = refer(
                client -> client.filter((call, next) -> CompletableFuture.completedFuture(null)), reference -> {});

        assertThatThrownBy(() -> proxy.echo("x"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("gave no response");
        assertThatThrownBy(() -> filtered.later("now").join())
                .hasCauseInstanceOf(RpcException.class)
                .hasMessageContaining("gave no response");
        assertThatThrownBy(() -> filtered.echo("x")).hasMessageContaining("gave no response");
    }

    /** Returns null instead of a stage, which the compiler does not prevent. */
    private static final class NullFilter implements ClientFilter, ServerFilter {
        @Override
        @SuppressWarnings("NullAway") // tests a mistake of applications
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return null;
        }
    }

    @Test
    void filterThatReturnsNullIsNamedOnBothSides() {
        serve(settings -> settings.filter(new NullFilter()));
        ContractService proxy = refer(client -> {}, reference -> {});
        ContractService filtered = refer(client -> client.filter(new NullFilter()), reference -> {});

        for (ContractService each : List.of(proxy, filtered)) {
            assertThatThrownBy(() -> each.echo("x"))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("the filter " + NullFilter.class.getName() + " around ")
                    .hasMessageContaining("returned null");
        }
        assertThatThrownBy(() -> filtered.later("now").join()).hasMessageContaining(NullFilter.class.getName());
    }

    @Test
    void filterThatChangesTheNumberOfArgumentsIsToldSo() {
        serve(settings -> {});
        ContractService filtered =
                refer(client -> client.filter((call, next) -> next.invoke(call.withArguments())), reference -> {});

        assertThatThrownBy(() -> filtered.echo("x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withArguments got 0 arguments, but ")
                .hasMessageContaining("/echo has 1 parameters");
    }

    @Test
    void filterThatThrowsFailsTheFuture() {
        serve(settings -> {});
        ClientFilter filter = (call, next) -> {
            throw new IllegalStateException("on purpose");
        };
        ContractService proxy = refer(client -> client.filter(filter), reference -> {});

        assertThatThrownBy(() -> proxy.later("now").join())
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("on purpose");
    }

    @Test
    void failingReaderOfResponseHeadersFailsItsCall() {
        ContractService proxy = CallOptions.none()
                .onResponseHeaders(headers -> {
                    throw new IllegalStateException("on purpose");
                })
                .on(proxy());

        assertThatThrownBy(() -> proxy.later("now").join()).hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> proxy.echo("x")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void failingCancelListenerDoesNotStopTheTimeLimitsOfOthers() throws Exception {
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
            // The loop repeats the call, because on a busy machine the call's deadline may pass before the method
            // begins, and in this case the method does not run.
            do {
                RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.blocksBriefly("x"));
                assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            } while (service.blocked.poll() == null);
            assertThat(take(service.cancelled)).isEqualTo("x");
        }
    }

    @Test
    void expiredCallIsNotSent() {
        serve(settings -> settings.filter((call, next) -> {
            service.told.add(call.method().name());
            return next.invoke(call);
        }));
        ClientFilter late =
                (call, next) -> next.invoke(call.withDeadline(Deadline.at(NanoClock.SYSTEM.nanoTime() - 1)));
        ContractService proxy = refer(client -> client.filter(late), reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(service.told).isEmpty();
    }

    @Test
    void contextIsSetForTheMethodAndClearedAfterwards() {
        AtomicReference<String> protocol = new AtomicReference<>();
        serve(settings -> settings.filter((call, next) -> {
            ServerContext context = ServerContext.current();
            protocol.set(context == null ? "none" : context.protocol() + " " + context.method());
            return next.invoke(call);
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        proxy.echo("x");

        assertThat(protocol.get()).endsWith(" ContractService/echo");
        assertThat(ServerContext.current()).isNull();
    }
}
