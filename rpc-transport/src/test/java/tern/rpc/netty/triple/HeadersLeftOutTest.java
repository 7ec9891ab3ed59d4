package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tern.rpc.CallOptions;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.HeadersLeftOut;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientTransport;

/** Tests headers that cannot be sent, over every protocol. Each such header must be refused or named in a warning. */
@Timeout(120)
class HeadersLeftOutTest {

    public interface Desk {
        /** Returns the value of the request header with this name, and sets a response header with this name. */
        String header(String name);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final RpcServer server = RpcServer.builder(
                    new NettyServerTransport(ServerTransportSettings.onPort(0), loops, protocols.ofServer()))
            .export(ServiceExport.of(Desk.class, HeadersLeftOutTest::answer))
            .build();
    private final RpcClient client = RpcClient.builder()
            .transport(transport("dubbo"))
            .transport(transport("tri"))
            .transport(transport("http"))
            .build();
    private final Logger logger = (Logger) LoggerFactory.getLogger(HeadersLeftOut.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    private ClientTransport transport(String protocol) {
        return new NettyClientTransport(ClientTransportSettings.named("desk"), loops, protocols.ofClient(protocol));
    }

    private static String answer(String name) {
        ServerContext context = Objects.requireNonNull(ServerContext.current());
        context.responseMetadata().put(name, "answered");
        return String.valueOf(context.metadata().get(name));
    }

    @BeforeEach
    void start() {
        logged.start();
        logger.addAppender(logged);
        logger.setAdditive(false);
        logger.setLevel(Level.WARN);
        server.start();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        loops.close();
        logger.detachAppender(logged);
        logger.setAdditive(true);
        logger.setLevel(null);
    }

    private Desk desk(String protocol) {
        return client.refer(ServiceReference.to(
                        Desk.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                .protocol(protocol)
                .check(true)
                .build());
    }

    private List<String> warnings() {
        return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "dubbo, path, dubbo",
        "dubbo, timeout, dubbo",
        "tri, accept-language, HTTP (tri and http)",
        "tri, :pseudo-of-tri, HTTP (tri and http)",
        "tri, Grpc-Timeout, HTTP (tri and http)",
        "http, Accept-Charset, HTTP (tri and http)",
        "http, User-Agent, HTTP (tri and http)"
    })
    void headerOfTheProtocolIsLeftOutWithOneWarning(String protocol, String name, String wire) {
        Desk desk = CallOptions.none().header(name, "mine").on(desk(protocol));

        List<String> arrived = List.of(desk.header("none"), desk.header(name), desk.header(name));

        assertThat(arrived).doesNotContain("mine");
        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith("The header '" + name + "' is not sent over " + wire
                        + ", because the protocol itself uses this name; give it another name, such as x-" + name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void nameWithCapitalsArrivesAsItIs(String protocol) {
        List<Metadata> answers = new ArrayList<>();
        Desk desk = CallOptions.none()
                .header("X-Tenant", "blue")
                .onResponseTrailers(answers::add)
                .on(desk(protocol));

        String arrived = desk.header("X-Tenant");

        assertThat(arrived).isEqualTo("blue");
        assertThat(answers)
                .singleElement()
                .satisfies(answer -> assertThat(answer.names()).contains("X-Tenant"));
        assertThat(warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "tri, two words, x, the name of the header 'two words' has the character U+0020",
        "http, two words, x, the name of the header 'two words' has the character U+0020",
        "tri, x-greeting, día, the value of the header 'x-greeting' has the character U+00ED at position 1",
        "http, x-greeting, día, the value of the header 'x-greeting' has the character U+00ED at position 1",
        "tri, x-trace-bin, text, the header 'x-trace-bin' has text; a name that ends in -bin is for bytes",
        "http, x-trace-bin, text, the header 'x-trace-bin' has text; a name that ends in -bin is for bytes"
    })
    void headerThatHttpCannotWriteFailsTheCall(String protocol, String name, String value, String message) {
        Desk desk = CallOptions.none().header(name, value).on(desk(protocol));

        RpcException failure = catchThrowableOfType(RpcException.class, () -> desk.header(name));

        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining(message);
    }

    @Test
    void warningsEndAfterManyNames() {
        HeadersLeftOut leftOut = new HeadersLeftOut("this wire");

        IntStream.range(0, 1_000).forEach(i -> leftOut.warn("name-" + i));

        assertThat(warnings()).hasSize(64);
    }

    @Test
    void nameIsEscapedInTheWarning() {
        new HeadersLeftOut("this wire").warn(":a\nb");

        assertThat(warnings()).singleElement().asString().doesNotContain("\n");
    }
}
