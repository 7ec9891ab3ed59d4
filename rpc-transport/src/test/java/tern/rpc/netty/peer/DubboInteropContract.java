package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.example.wire.BizException;
import com.example.wire.Color;
import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import com.example.wire.MixedServer;
import com.example.wire.MixedService;
import com.example.wire.Person;
import com.example.wire.Point;
import io.netty.handler.codec.DecoderException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.dubbo.config.MethodConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.service.EchoService;
import org.apache.dubbo.rpc.service.GenericException;
import org.apache.dubbo.rpc.service.GenericService;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.CallOptions;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests calls between Tern and a real Apache Dubbo instance in the same process, over sockets and in both directions.
 * Each subclass runs the tests over one protocol.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class DubboInteropContract {

    protected enum Direction {
        DUBBO_TO_US,
        US_TO_DUBBO
    }

    protected final DubboPeer dubbo;
    protected final GreetServer ourGreet = new OurGreetServer();
    protected final GreetServer dubboGreet = new DubboGreetServer();
    private final MixedServer ourMixed = new MixedServer();
    private final EventLoops loops = EventLoops.start(2);
    private final List<AutoCloseable> open = new ArrayList<>();
    protected int port;
    protected RpcClient client;
    protected GreetService dubboToUs;
    protected GreetService usToDubbo;

    /** @param protocol the protocol name in Dubbo's configuration */
    protected DubboInteropContract(String protocol) {
        dubbo = new DubboPeer("interop", protocol);
    }

    /** Returns an exception whose class is neither declared by the interface nor part of the JDK. */
    private static RuntimeException thrown(String s) {
        return switch (s) {
            case "foreign" -> new DecoderException("of another library");
            case "error" -> throw new StackOverflowError("too deep");
            case "dubbo" ->
                new org.apache.dubbo.rpc.RpcException(
                        org.apache.dubbo.rpc.RpcException.FORBIDDEN_EXCEPTION, "not for you");
            case "tern" -> new RpcException(StatusCode.PERMISSION_DENIED, "not for you");
            default -> new IllegalArgumentException("bad:" + s);
        };
    }

    /** The service implementation of Tern's server. */
    private static final class OurGreetServer extends GreetServer {
        @Override
        public String echo(String s) {
            Metadata seen = ServerContext.current().metadata();
            if ("seen".equals(s)) {
                return seen.get("Tenant") + " " + seen.getBytes("blob").length + " " + seen.get("number");
            }
            if ("remaining".equals(s)) {
                long nanos = ServerContext.current().deadline().remainingNanos(System.nanoTime());
                return String.valueOf(TimeUnit.NANOSECONDS.toMillis(nanos));
            }
            if ("caller".equals(s)) {
                return String.valueOf(seen.get("remote.application"));
            }
            return super.echo(s);
        }

        @Override
        public String unchecked(String s) {
            throw thrown(s);
        }
    }

    /** The service implementation of the Dubbo provider. */
    private static final class DubboGreetServer extends GreetServer {
        @Override
        protected void attach(String name, Object value) {
            RpcContext.getServerResponseContext().setObjectAttachment(name, value);
        }

        @Override
        public String echo(String s) {
            if ("seen".equals(s)) {
                Map<String, Object> seen = RpcContext.getServerAttachment().getObjectAttachments();
                return seen.get("Tenant") + " " + ((byte[]) seen.get("blob")).length + " " + seen.get("number");
            }
            if ("caller".equals(s)) {
                return RpcContext.getServiceContext().getRemoteApplicationName();
            }
            return super.echo(s);
        }

        @Override
        public String unchecked(String s) {
            throw thrown(s);
        }
    }

    protected abstract List<ServerProtocol> serverProtocols();

    protected abstract ClientProtocol clientProtocol();

    @BeforeAll
    void start() {
        dubbo.provide(GreetService.class, dubboGreet, "", "");
        dubbo.provide(GreetService.class, dubboGreet, "g1", "1.2.3");
        dubbo.provide(MixedService.class, new MixedServer(), "", "");
        port = serve(this::export).port();
        dubboToUs = dubbo.refer(GreetService.class, dubbo.url(port), DubboInteropContract::oneWay);
        client = client(settings -> settings);
        usToDubbo = refer(
                client,
                reference -> reference.method("oneway", new MethodSettings(null, null, true)),
                dubbo.endpoint());
    }

    /** Exports the services that the Dubbo consumer calls. */
    protected void export(RpcServer.Builder settings) {
        settings.genericCalls(true)
                .export(ServiceExport.of(GreetService.class, ourGreet))
                .export(ServiceExport.of(GreetService.class, ourGreet, "g1", "1.2.3"))
                .export(ServiceExport.of(MixedService.class, ourMixed));
    }

    /** Starts a Tern server. The test fixture closes the server after the test. */
    protected final RpcServer serve(Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder = RpcServer.builder(ResourceLedger.watch(
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, serverProtocols())))
                .maxQueueWait(Duration.ofSeconds(10));
        settings.accept(builder);
        RpcServer server = builder.build();
        open.add(server);
        server.start();
        return server;
    }

    /** Creates a Tern client. The test fixture closes the client after the test. */
    protected final RpcClient client(UnaryOperator<ClientTransportSettings> limits) {
        RpcClient made = RpcClient.builder()
                .transport(new NettyClientTransport(
                        limits.apply(ClientTransportSettings.named("wire-consumer")), loops, clientProtocol()))
                .timeout(Duration.ofSeconds(20))
                .build();
        open.add(made);
        return made;
    }

    protected final GreetService refer(
            RpcClient client, Consumer<ServiceReference.Builder<GreetService>> settings, Endpoint... endpoints) {
        return refer(GreetService.class, client, settings, endpoints);
    }

    protected final <T> T refer(
            Class<T> type, RpcClient client, Consumer<ServiceReference.Builder<T>> settings, Endpoint... endpoints) {
        ServiceReference.Builder<T> reference = ServiceReference.to(type, new StaticEndpoints(List.of(endpoints)));
        reference.protocol(clientProtocol().name());
        settings.accept(reference);
        return client.refer(reference.build());
    }

    private static void oneWay(ReferenceConfig<GreetService> reference) {
        MethodConfig method = new MethodConfig();
        method.setName("oneway");
        method.setReturn(false);
        reference.setMethods(new ArrayList<>(List.of(method)));
    }

    @AfterAll
    void stop() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
        dubbo.close();
    }

    protected final GreetService service(Direction direction) {
        return direction == Direction.DUBBO_TO_US ? dubboToUs : usToDubbo;
    }

    private GreetServer target(Direction direction) {
        return direction == Direction.DUBBO_TO_US ? ourGreet : dubboGreet;
    }

    /** A service implementation whose {@code echo} method returns the given name. */
    protected static final class Named extends GreetServer {
        private final String name;

        public Named(String name) {
            this.name = name;
        }

        @Override
        public String echo(String s) {
            return name;
        }
    }

    @ParameterizedTest
    @EnumSource
    void textsArrive(Direction direction) {
        GreetService service = service(direction);

        assertThat(service.echo("hello")).isEqualTo("hello");
        assertThat(service.echo("")).isEmpty();
        assertThat(service.echo(null)).isNull();
        assertThat(service.echo("hé中😀\u0000\n")).isEqualTo("hé中😀\u0000\n");
        assertThat(service.echo("x".repeat(40_000))).isEqualTo("x".repeat(40_000));
        assertThat(service.echo("x".repeat(32_767) + "😀".repeat(20_000)))
                .isEqualTo("x".repeat(32_767) + "😀".repeat(20_000));
        assertThat(service.nul()).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void beansRecordsMapsAndBytesArrive(Direction direction) {
        GreetService service = service(direction);
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("int", 1);
        map.put("long", 2L);
        map.put("double", 1.5);
        map.put("boolean", true);
        map.put("null", null);
        map.put("list", new ArrayList<>(List.of("a", "b")));
        byte[] bytes = new byte[100_000];
        bytes[99_999] = 7;

        assertThat(service.pojo(person())).isEqualTo(person());
        assertThat(service.pojo(new Person())).isEqualTo(new Person());
        assertThat(service.pojo(null)).isNull();
        assertThat(service.record(new Point(3, -4))).isEqualTo(new Point(3, -4));
        assertThat(service.map(map, new ArrayList<>(List.of(person())))).isEqualTo(map);
        assertThat(service.bytes(new byte[0])).isEmpty();
        assertThat(service.bytes(new byte[] {0, 1, -1})).containsExactly(0, 1, -1);
        assertThat(service.bytes(bytes)).isEqualTo(bytes);
    }

    protected static Person person() {
        Person friend = Person.named("Bob", 3);
        Person person = Person.named("Ann", 30);
        person.setId(5_000_000_000L);
        person.setActive(true);
        person.setColor(Color.GREEN);
        person.setTags(new ArrayList<>(List.of("a", "b")));
        person.setBalance(new BigDecimal("12.50"));
        person.setBorn(new Date(894_621_091_123L));
        person.setFriend(friend);
        return person;
    }

    @TestFactory
    Stream<DynamicTest> valueAtAPositionOfNoTypeArrives() {
        List<Object> values = List.of(
                1,
                -1L,
                1.5,
                0.001,
                true,
                "text",
                new BigDecimal("123.4500"),
                new BigInteger("123456789012345678901234567890"),
                UUID.fromString("123e4567-e89b-12d3-a456-426614174000"),
                new Date(1_700_000_000_123L),
                Instant.ofEpochSecond(1_700_000_000L, 5),
                LocalDate.of(2024, 1, 2),
                LocalTime.of(3, 4, 5, 6),
                LocalDateTime.of(2024, 1, 2, 3, 4, 5),
                OffsetDateTime.of(2024, 1, 2, 3, 4, 5, 6, ZoneOffset.ofHours(2)),
                LocalDateTime.of(2024, 1, 2, 3, 4, 5).atZone(ZoneId.of("Europe/Berlin")),
                Duration.ofMillis(1_234),
                Color.RED,
                new Point(1, 2),
                person(),
                new int[] {1, 2, 3},
                new String[] {"a", "b"},
                new ArrayList<>(List.of(1, "two", 3L)),
                new HashSet<>(Set.of("one")),
                new HashMap<>(Map.of("k", new Point(5, 6))));
        return Stream.of(Direction.values())
                .flatMap(direction -> values.stream()
                        .map(value -> DynamicTest.dynamicTest(
                                direction + " " + value.getClass().getSimpleName(),
                                () -> assertThat(service(direction).types(value))
                                        .isEqualTo(value))));
    }

    @ParameterizedTest
    @EnumSource
    void overloadsAreDistinguished(Direction direction) {
        assertThat(service(direction).add(1, 2)).isEqualTo(3);
        assertThat(service(direction).add(1L << 40, 2L)).isEqualTo((1L << 40) + 2);
    }

    @ParameterizedTest
    @EnumSource
    void voidAndOneWayCallsReachTheMethod(Direction direction) throws Exception {
        service(direction).nothing("nothing");
        assertThat(target(direction).told.poll(20, TimeUnit.SECONDS)).isEqualTo("nothing");

        service(direction).oneway("one way");
        assertThat(target(direction).told.poll(20, TimeUnit.SECONDS)).isEqualTo("one way");
    }

    @ParameterizedTest
    @EnumSource
    void asynchronousResultCompletesTheFuture(Direction direction) throws Exception {
        assertThat(service(direction).async("q").get(20, TimeUnit.SECONDS)).isEqualTo("async:q");
    }

    @ParameterizedTest
    @EnumSource
    void exceptionsArriveWithTheirFields(Direction direction) {
        BizException checked = catchThrowableOfType(
                BizException.class, () -> service(direction).checked("x"));
        assertThat(checked).hasMessage("biz:x");
        assertThat(checked.getCode()).isEqualTo(42);

        assertThat(catchThrowable(() -> service(direction).unchecked("x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bad:x");
    }

    @ParameterizedTest
    @EnumSource
    void exceptionOfAnotherLibraryIsDescribedInText(Direction direction) {
        assertThat(catchThrowable(() -> service(direction).unchecked("foreign")))
                .isExactlyInstanceOf(RuntimeException.class)
                .hasMessageContainingAll(
                        "io.netty.handler.codec.DecoderException",
                        direction == Direction.DUBBO_TO_US ? "logged by the server as" : "of another library");
    }

    @Test
    void refusalByAMethodOfDubboIsDescribedInText() {
        assertThat(catchThrowable(() -> usToDubbo.unchecked("dubbo")))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("not for you");
    }

    @Test
    void refusalByAMethodOfTernIsDescribedInText() {
        assertThat(catchThrowable(() -> dubboToUs.unchecked("tern")))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContainingAll("PERMISSION_DENIED", "not for you");
    }

    @ParameterizedTest
    @EnumSource
    void errorReachesTheCaller(Direction direction) {
        assertThat(catchThrowable(() -> service(direction).unchecked("error")))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining("StackOverflowError");
    }

    @ParameterizedTest
    @EnumSource
    void callingApplicationIsKnown(Direction direction) {
        assertThat(service(direction).echo("caller"))
                .isEqualTo(direction == Direction.DUBBO_TO_US ? "interop" : "wire-consumer");
    }

    @Test
    void callThatDubboDoesNotWaitForReachesTheMethod() throws Exception {
        RpcContext.getServiceContext().asyncCall(() -> dubboToUs.nothing("not waited for"));

        assertThat(ourGreet.told.poll(20, TimeUnit.SECONDS)).isEqualTo("not waited for");
    }

    @Test
    void attachmentsAreSentFromTernToDubboAndBack() {
        assumeTrue(peerCarriesAttachments());
        AtomicReference<Metadata> seen = new AtomicReference<>();
        CallOptions options = CallOptions.none()
                .header("Tenant", "blue")
                .header("blob", new byte[] {1, 2})
                .header("number", "7")
                .onResponseTrailers(seen::set);

        assertThat(options.on(usToDubbo).echo("seen")).isEqualTo("blue 2 7");
        assertThat(options.on(usToDubbo).echo("att")).isEqualTo("att");

        assertThat(seen.get().get("resp-key")).isEqualTo("resp-val");
        assertThat(seen.get().get("RespCamel")).isEqualTo("v2");
        assertThat(seen.get().getBytes("resp-bytes")).containsExactly(1, 2, -1);
    }

    @Test
    void attachmentsAreSentFromDubboToTernAndBack() {
        assumeTrue(peerCarriesAttachments());
        RpcContext.getClientAttachment().setAttachment("Tenant", "blue");
        RpcContext.getClientAttachment().setObjectAttachment("blob", new byte[] {1, 2});
        RpcContext.getClientAttachment().setObjectAttachment("number", 7);
        RpcContext.getClientAttachment().setObjectAttachment("bean", new Point(1, 2));
        assertThat(dubboToUs.echo("seen")).isEqualTo("blue 2 7");
        RpcContext.removeClientAttachment();

        assertThat(dubboToUs.echo("att")).isEqualTo("att");

        Map<String, Object> seen = RpcContext.getClientResponseContext().getObjectAttachments();
        assertThat(seen).containsEntry("resp-key", "resp-val").containsEntry("RespCamel", "v2");
        assertThat((byte[]) seen.get("resp-bytes")).containsExactly(1, 2, -1);
    }

    @Test
    void groupAndVersionChooseTheExport() {
        GreetService ours = refer(client, to -> to.group("g1").version("1.2.3"), dubbo.endpoint());
        GreetService theirs = dubbo.refer(GreetService.class, dubbo.url(port), reference -> {
            reference.setGroup("g1");
            reference.setVersion("1.2.3");
        });

        assertThat(ours.echo("x")).isEqualTo("x");
        assertThat(theirs.echo("x")).isEqualTo("x");
    }

    @Test
    void unknownMethodOfAGenericCallFails() {
        assertThat(catchThrowable(() -> generic().$invoke("nope", new String[0], new Object[0])))
                .isInstanceOf(org.apache.dubbo.rpc.RpcException.class)
                .hasMessageContaining("GreetService has no method nope");
    }

    private GenericService generic() {
        return dubbo.refer(GenericService.class, dubbo.url(port), reference -> {
            reference.setInterface(GreetService.class.getName());
            reference.setGeneric("true");
        });
    }

    @Test
    void genericCallOfDubboIsServed() {
        GenericService generic = generic();
        Map<String, Object> ann = new HashMap<>(Map.of("name", "Ann", "age", 30, "color", "GREEN"));
        ann.put("friend", new HashMap<>(Map.of("name", "Bob")));

        assertThat(generic.$invoke("echo", new String[] {"java.lang.String"}, new Object[] {"gen"}))
                .isEqualTo("gen");
        assertThat(generic.$invoke("add", new String[] {"int", "int"}, new Object[] {1, 2}))
                .isEqualTo(3);
        Map<?, ?> answer =
                (Map<?, ?>) generic.$invoke("pojo", new String[] {"com.example.wire.Person"}, new Object[] {ann});
        assertThat(answer.get("name")).isEqualTo("Ann");
        assertThat(answer.get("color")).isEqualTo("GREEN");
        assertThat(answer.get("class")).isEqualTo("com.example.wire.Person");
        assertThat(((Map<?, ?>) answer.get("friend")).get("name")).isEqualTo("Bob");
        assertThat(generic.$invokeAsync("echo", new String[] {"java.lang.String"}, new Object[] {"later"}))
                .succeedsWithin(Duration.ofSeconds(20))
                .isEqualTo("later");
        GenericException failure = catchThrowableOfType(
                GenericException.class,
                () -> generic.$invoke("checked", new String[] {"java.lang.String"}, new Object[] {"gx"}));
        assertThat(failure.getExceptionClass()).isEqualTo("com.example.wire.BizException");
        assertThat(failure.getExceptionMessage()).isEqualTo("biz:gx");
    }

    @Test
    void echoOfDubboIsAnswered() {
        EchoService echo = (EchoService) dubboToUs;

        assertThat(echo.$echo("OK")).isEqualTo("OK");
        assertThat(echo.$echo(7)).isEqualTo(7);
        assertThat(echo.$echo(person())).isEqualTo(person());
    }

    @Test
    void deadlineEndsTheCallOnBothSides() {
        RpcException ours = catchThrowableOfType(
                RpcException.class,
                () -> CallOptions.none()
                        .timeout(Duration.ofSeconds(1))
                        .on(usToDubbo)
                        .slow(2_000));
        GreetService impatient =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> reference.setTimeout(100));
        Throwable theirs = catchThrowable(() -> impatient.slow(30_000));

        assertThat(ours.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(ours.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(theirs).isInstanceOf(org.apache.dubbo.rpc.RpcException.class);
        assertThat(saysTimeout((org.apache.dubbo.rpc.RpcException) theirs)).isTrue();
    }

    /**
     * Returns whether Dubbo on this JDK can send attachments with capital letters in their names and attachments with
     * non-string values.
     */
    protected boolean peerCarriesAttachments() {
        return true;
    }

    /** Returns whether the exception that Dubbo's consumer received reports a timeout. */
    protected boolean saysTimeout(org.apache.dubbo.rpc.RpcException failure) {
        return failure.isTimeout();
    }

    @Test
    void smallFieldsSideBySideArriveWhole() throws Exception {
        MixedService ours = refer(MixedService.class, client, to -> {}, dubbo.endpoint());
        MixedService theirs = dubbo.refer(MixedService.class, dubbo.url(port), reference -> {});

        assertThat(ours.small(MixedService.Small.some())).isEqualTo(MixedService.Small.some());
        assertThat(theirs.small(MixedService.Small.some())).isEqualTo(MixedService.Small.some());
        assertThat(ours.shorts((byte) -1, (short) 300)).isEqualTo((short) 299);
        assertThat(theirs.shorts((byte) -1, (short) 300)).isEqualTo((short) 299);
        assertThat(ours.floats(0.5f, 'a')).isEqualTo(97.5f);
        assertThat(theirs.floats(0.5f, 'a')).isEqualTo(97.5f);
        // Dubbo's decoder writes eight bytes into a field of four bytes, so only the values that Tern decodes are
        // checked.
        assertThat(ours.make()).isEqualTo(MixedService.Mixed.some());
        theirs.take(MixedService.Mixed.some());
        assertThat(ourMixed.taken.poll(20, TimeUnit.SECONDS)).isEqualTo(MixedService.Mixed.some());
    }

    @Test
    void dubboGoesElsewhereWhenOurServerDrains() {
        RpcServer leaving = serve(
                settings -> settings.export(ServiceExport.of(GreetService.class, new Named("leaving"), "drain", "")));
        RpcServer staying = serve(
                settings -> settings.export(ServiceExport.of(GreetService.class, new Named("staying"), "drain", "")));
        GreetService service = dubbo.refer(
                GreetService.class, dubbo.url(leaving.port()) + ";" + dubbo.url(staying.port()), reference -> {
                    reference.setGroup("drain");
                    reference.setLoadbalance("roundrobin");
                });
        Await.until("both are called", () -> service.echo("x").equals("leaving"));
        Await.until("both are called", () -> service.echo("x").equals("staying"));

        leaving.drain(Duration.ofMillis(200));

        Await.until(
                "only one is called",
                () -> Stream.generate(() -> service.echo("x")).limit(6).allMatch("staying"::equals));
        assertThat(Stream.generate(() -> service.echo("x")).limit(20)).containsOnly("staying");
    }
}
