package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.CallHead;
import tern.rpc.CallOptions;
import tern.rpc.Metadata;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.GuardedService.Counted;

/**
 * The contract for authentication: every transport must authenticate the caller before it creates any of the call's
 * arguments.
 */
@Timeout(60)
public abstract class IdentityContractTest extends TransportTest {

    private static final Token GOOD = Token.of("good-0123456789");
    private static final Token OTHER = Token.of("other-0123456789");
    private static final Token BAD = Token.of("bad-0123456789");

    private final AtomicInteger ran = new AtomicInteger();

    /** Returns whether the tested transport supports streams. */
    protected boolean hasStreams() {
        return false;
    }

    private static Counted counted() {
        Counted inner = new Counted();
        inner.setName("inner");
        Counted outer = new Counted();
        outer.setName("outer");
        outer.setInner(inner);
        return outer;
    }

    private final class Guarded implements GuardedService {

        @Override
        public int take(Counted one, List<Counted> more) {
            return ran.incrementAndGet();
        }

        @Override
        public @Nullable String caller() {
            Principal caller = context().principal();
            return caller == null ? null : caller.getName();
        }

        @Override
        public List<String> headers() {
            return context().metadata().names();
        }

        private static ServerContext context() {
            return Objects.requireNonNull(ServerContext.current());
        }
    }

    private final class Streams implements GuardedStreams {

        @Override
        public Flow.Publisher<Integer> watch(Counted one) {
            ran.incrementAndGet();
            return OnePublisher.of(1);
        }

        @Override
        public CompletionStage<Integer> collect(Flow.Publisher<Counted> values) {
            ran.incrementAndGet();
            Probe<Counted> probe = Probe.ofAll();
            values.subscribe(probe);
            return CompletableFuture.supplyAsync(() -> {
                try {
                    return probe.rest().size();
                } catch (InterruptedException e) {
                    throw new CompletionException(e);
                }
            });
        }

        @Override
        public Flow.Publisher<Integer> exchange(Flow.Publisher<Counted> values) {
            ran.incrementAndGet();
            return OnePublisher.of(1);
        }
    }

    protected void serve(Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder = RpcServer.builder(transport().newServer())
                .maxQueueWait(Duration.ofSeconds(20))
                .export(ServiceExport.of(GuardedService.class, new Guarded()));
        if (hasStreams()) {
            builder.export(ServiceExport.of(GuardedStreams.class, new Streams()));
        }
        settings.accept(builder);
        RpcServer server = builder.build();
        closeLater(server);
        server.start();
    }

    private <T> T refer(Class<T> type, @Nullable Token token) {
        ClientTransport transport = transport().newClient();
        RpcClient client = RpcClient.builder()
                .transport(transport)
                .timeout(Duration.ofSeconds(20))
                .build();
        closeLater(client);
        ServiceReference.Builder<T> to = ServiceReference.to(type, new StaticEndpoints(List.of(endpoint())))
                .protocol(transport.protocol());
        if (token != null) {
            to.token(token);
        }
        return client.refer(to.build());
    }

    private GuardedService service(@Nullable Token token) {
        return refer(GuardedService.class, token);
    }

    /** Asserts that the server refuses the call and creates no part of its arguments. Returns the refusal. */
    private RpcException refused(GuardedService service) {
        Counted one = counted();
        List<Counted> more = new ArrayList<>(List.of(counted(), counted()));
        int before = Counted.MADE.get();

        RpcException refusal = catchThrowableOfType(RpcException.class, () -> service.take(one, more));

        assertThat(refusal).isNotNull();
        assertThat(Counted.MADE).as("parts of arguments that were created").hasValue(before);
        assertThat(ran).as("calls that ran").hasValue(0);
        assertThat(refusal.toString())
                .doesNotContain(GOOD.reveal())
                .doesNotContain(OTHER.reveal())
                .doesNotContain(BAD.reveal());
        return refusal;
    }

    private static void assertUnauthenticated(RpcException refusal, String why) {
        assertThat(refusal.code()).isEqualTo(StatusCode.UNAUTHENTICATED);
        assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(refusal.getMessage()).contains(why).contains("rpc.client.token");
    }

    // Tests of tokens:

    @Test
    void callWithoutATokenIsRefusedBeforeItsArgumentsExist() {
        serve(server -> server.token(GOOD));

        assertUnauthenticated(refused(service(null)), "the call has no token");
    }

    @Test
    void callWithAnotherTokenIsRefusedBeforeItsArgumentsExist() {
        serve(server -> server.token(GOOD));

        assertUnauthenticated(refused(service(BAD)), "does not accept the call's token");
    }

    @Test
    void callWithTheTokenPassesAndItsArgumentsAreCreated() {
        serve(server -> server.token(GOOD));
        GuardedService service = service(GOOD);
        Counted one = counted();
        int before = Counted.MADE.get();

        service.take(one, new ArrayList<>());

        assertThat(Counted.MADE).as("the count that is 0 for refused calls").hasValueGreaterThan(before);
        assertThat(ran).hasValue(1);
    }

    @Test
    void eachOfSeveralTokensPasses() {
        serve(server -> server.token(GOOD).token(OTHER));

        assertThat(service(GOOD).take(counted(), new ArrayList<>())).isEqualTo(1);
        assertThat(service(OTHER).take(counted(), new ArrayList<>())).isEqualTo(2);
    }

    @Test
    void tokenOfTheCallItselfWins() {
        serve(server -> server.token(OTHER));
        ClientTransport transport = transport().newClient();
        closeLater(transport);
        Metadata carried = new Metadata();
        transport.carry(OTHER).addTo(carried);
        String name = carried.names().get(0);
        CallOptions own = CallOptions.none().header(name, Objects.requireNonNull(carried.get(name)));

        assertThat(own.on(service(BAD)).take(counted(), new ArrayList<>())).isEqualTo(1);
    }

    @Test
    void attachmentOfDubboIsATokenOnEveryProtocol() {
        serve(server -> server.token(GOOD));
        CallOptions attached = CallOptions.none().header("token", GOOD.reveal());

        assertThat(attached.on(service(null)).take(counted(), new ArrayList<>()))
                .isEqualTo(1);
    }

    @Test
    void serviceDoesNotSeeTheTokenThatOpenedTheServer() {
        serve(server -> server.token(GOOD));

        assertThat(service(GOOD).headers()).doesNotContain("token", "authorization");
    }

    // Tests of authorizers:

    @Test
    void authorizerSeesTheCallButNotItsArguments() {
        List<CallHead> asked = new CopyOnWriteArrayList<>();
        List<Thread> threads = new CopyOnWriteArrayList<>();
        List<Integer> made = new CopyOnWriteArrayList<>();
        serve(server -> server.authorizer(call -> {
            asked.add(call);
            threads.add(Thread.currentThread());
            made.add(Counted.MADE.get());
            return null;
        }));
        GuardedService service = CallOptions.none().header("tenant", "blue").on(service(null));
        Counted one = counted();
        int before = Counted.MADE.get();

        service.take(one, new ArrayList<>());

        assertThat(made).containsExactly(before);
        CallHead call = asked.get(0);
        assertThat(call.service().interfaceName()).isEqualTo(GuardedService.class.getName());
        assertThat(call.method()).isEqualTo("take");
        assertThat(call.metadata().get("tenant")).isEqualTo("blue");
        assertThat(call.protocol()).isNotEmpty();
        assertThat(call.principal()).isNull();
        assertThat(call).hasToString(GuardedService.class.getName() + "/take");
        assertThat(threads.get(0)).isNotInstanceOf(EventLoopThread.class);
        assertThat(threads.get(0).getName()).startsWith("rpc-worker");
    }

    @Test
    void refusalOfAnAuthorizerReachesTheCallerBeforeArgumentsExist() {
        serve(server -> server.authorizer(call -> {
            throw RpcAuthorizer.denied(call.method() + " is for others");
        }));

        RpcException refusal = refused(service(null));

        assertThat(refusal.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(refusal.getMessage()).contains("take is for others");
        assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void failureOfAnAuthorizerRefusesTheCall() {
        serve(server -> server.authorizer(call -> {
            throw new IllegalStateException("directory at 10.1.2.3 is down");
        }));

        RpcException refusal = refused(service(null));

        assertThat(refusal.code()).isEqualTo(StatusCode.INTERNAL);
        assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(refusal.getMessage()).contains("authorization failed").doesNotContain("10.1.2.3");
    }

    @Test
    void errorInAnAuthorizerRefusesTheCall() {
        serve(server -> server.authorizer(call -> {
            throw new NoClassDefFoundError("gone");
        }));

        assertThat(refused(service(null)).code()).isEqualTo(StatusCode.INTERNAL);
    }

    @Test
    void anyOtherCodeOfAnAuthorizerIsAFailureOfTheAuthorizer() {
        serve(server -> server.authorizer(call -> {
            throw new RpcException(StatusCode.UNAVAILABLE, "the directory does not answer");
        }));

        assertThat(refused(service(null)).code()).isEqualTo(StatusCode.INTERNAL);
    }

    @Test
    void authorizersRunInOrderAndSeeThePrincipalOfEarlierOnes() {
        List<String> asked = Collections.synchronizedList(new ArrayList<>());
        serve(server -> server.authorizer(call -> {
                    asked.add("first " + call.principal());
                    return named("ada");
                })
                .authorizer(call -> {
                    asked.add(
                            "second " + Objects.requireNonNull(call.principal()).getName());
                    return null;
                }));

        assertThat(service(null).caller()).isEqualTo("ada");
        assertThat(asked).containsExactly("first null", "second ada");
    }

    @Test
    void tokenIsCheckedBeforeAuthorizers() {
        AtomicInteger asked = new AtomicInteger();
        serve(server -> server.token(GOOD).authorizer(call -> {
            asked.incrementAndGet();
            return null;
        }));

        refused(service(BAD));

        assertThat(asked).hasValue(0);
    }

    @Test
    void refusalsAreCounted() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        serve(server -> server.meters(new RpcMeters(registry, Slo.DEFAULT))
                .token(GOOD)
                .authorizer(call -> {
                    throw RpcAuthorizer.denied("no");
                }));

        refused(service(BAD));
        refused(service(GOOD));

        assertThat(registry.get(RpcMeter.SERVER_DENIED.key()).functionCounter().count())
                .isEqualTo(2);
    }

    private static Principal named(String name) {
        return () -> name;
    }

    // Tests of streams:

    @Test
    void streamsAreRefusedBeforeTheirFirstMessageExists() throws Exception {
        assumeTrue(hasStreams());
        serve(server -> server.token(GOOD));
        GuardedStreams streams = refer(GuardedStreams.class, BAD);
        Counted one = counted();
        int before = Counted.MADE.get();

        Probe<Integer> watched = Probe.ofAll();
        streams.watch(one).subscribe(watched);
        assertUnauthenticated((RpcException) watched.failure(), "does not accept the call's token");

        CompletionException collected = catchThrowableOfType(
                CompletionException.class,
                () -> streams.collect(OnePublisher.of(one))
                        .toCompletableFuture()
                        .join());
        assertUnauthenticated((RpcException) collected.getCause(), "does not accept the call's token");

        Probe<Integer> exchanged = Probe.ofAll();
        streams.exchange(OnePublisher.of(one)).subscribe(exchanged);
        assertUnauthenticated((RpcException) exchanged.failure(), "does not accept the call's token");

        assertThat(Counted.MADE).hasValue(before);
        assertThat(ran).hasValue(0);
    }

    @Test
    void authorizerRunsOnceForAStream() throws Exception {
        assumeTrue(hasStreams());
        List<String> asked = new CopyOnWriteArrayList<>();
        serve(server -> server.authorizer(call -> {
            asked.add(call.method());
            return null;
        }));
        GuardedStreams streams = refer(GuardedStreams.class, null);

        Probe<Integer> watched = Probe.ofAll();
        streams.watch(counted()).subscribe(watched);
        assertThat(watched.rest()).containsExactly(1);
        assertThat(streams.collect(OnePublisher.of(counted()))
                        .toCompletableFuture()
                        .join())
                .isEqualTo(1);

        assertThat(asked).containsExactly("watch", "collect");
    }

    @Test
    void deniedStreamsCreateNothing() throws Exception {
        assumeTrue(hasStreams());
        serve(server -> server.authorizer(call -> {
            throw RpcAuthorizer.denied("no");
        }));
        GuardedStreams streams = refer(GuardedStreams.class, null);
        Counted one = counted();
        int before = Counted.MADE.get();

        Probe<Integer> watched = Probe.ofAll();
        streams.watch(one).subscribe(watched);
        assertThat(((RpcException) watched.failure()).code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        Probe<Integer> exchanged = Probe.ofAll();
        streams.exchange(OnePublisher.of(one)).subscribe(exchanged);
        assertThat(((RpcException) exchanged.failure()).code()).isEqualTo(StatusCode.PERMISSION_DENIED);

        assertThat(Counted.MADE).hasValue(before);
        assertThat(ran).hasValue(0);
    }

    /** Publishes one value to each subscriber. */
    private record OnePublisher<T>(T value) implements Flow.Publisher<T> {

        static <T> OnePublisher<T> of(T value) {
            return new OnePublisher<>(value);
        }

        @Override
        public void subscribe(Flow.Subscriber<? super T> subscriber) {
            subscriber.onSubscribe(new Flow.Subscription() {
                private boolean given;

                @Override
                public void request(long values) {
                    if (!given) {
                        given = true;
                        subscriber.onNext(value);
                        subscriber.onComplete();
                    }
                }

                @Override
                public void cancel() {
                    given = true;
                }
            });
        }
    }
}
