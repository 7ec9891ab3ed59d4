package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.CallHead;
import tern.rpc.RpcAuthorizer;
import tern.rpc.health.HealthService;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.triple.WebClient.Version;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Token;

/** Tests tokens and authorizers over every HTTP protocol. */
@Timeout(120)
class WebIdentityTest {

    private static final String TOKEN = "secret-0123456789";
    private static final String WORDS = WebSides.WORDS;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final TripleSides sides = new TripleSides();
    private int port;

    @BeforeEach
    void serve() {
        HealthService health = new HealthService();
        RpcServer server = sides.serve(ServerTransportSettings.onPort(0), HttpSettings.defaults(), settings -> {
            ServiceExport words = ServiceExport.of(Words.class, new WordsServer());
            settings.export(words).export(health.export());
            ReflectionService.of(List.of(words)).forEach(settings::export);
            settings.token(Token.of(TOKEN)).authorizer(this::ask);
        });
        port = server.port();
    }

    private @Nullable Principal ask(CallHead call) {
        asked.add(call.protocol() + " " + call.method());
        if (call.metadata().contains("stranger")) {
            throw RpcAuthorizer.denied("not for strangers");
        }
        return null;
    }

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private static Stream<Arguments> requests() {
        byte[] message = StringValue.of("hi").toByteArray();
        return Stream.of(
                        Arguments.of(
                                "http shoutJava",
                                WebRequest.post(WORDS + "shoutJava", "application/json")
                                        .body("\"hi\"".getBytes(UTF_8))),
                        Arguments.of("http shoutJava", WebRequest.of("GET", WORDS + "shoutJava?text=hi")),
                        Arguments.of(
                                "connect shout",
                                WebRequest.post(WORDS + "Shout", "application/proto")
                                        .with("connect-protocol-version", "1")
                                        .body(message)),
                        Arguments.of(
                                "connect shoutJava",
                                WebRequest.post(WORDS + "shoutJava", "application/json")
                                        .with("connect-protocol-version", "1")
                                        .body("\"hi\"".getBytes(UTF_8))),
                        Arguments.of(
                                "connect join",
                                WebRequest.post(WORDS + "join", "application/connect+proto")
                                        .with("connect-protocol-version", "1")
                                        .body(TestFrame.of("hi"))),
                        Arguments.of(
                                "grpc-web shout",
                                WebRequest.post(WORDS + "Shout", "application/grpc-web+proto")
                                        .body(TestFrame.of("hi"))))
                .flatMap(request -> Stream.of(Version.values())
                        .map(version -> Arguments.of(version, request.get()[0], request.get()[1])));
    }

    private WebAnswer send(Version version, WebRequest request) {
        try (WebClient client = version.connect(port)) {
            return client.send(request);
        }
    }

    /** Returns all parts of an answer as text. */
    private static String all(WebAnswer answer) {
        return answer.status() + " " + answer.headers() + " " + answer.text() + " " + answer.trailers();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void requestWithoutATokenIsRefusedByItsHead(Version version, String call, WebRequest request) {
        String none = all(send(version, request));
        String wrong = all(send(version, request.with("authorization", "Bearer guess")));
        String basic = all(send(version, request.with("authorization", TOKEN)));

        assertThat(none).contains("the call has no token");
        assertThat(wrong)
                .contains("does not accept the call's token")
                .doesNotContain("guess")
                .doesNotContain(TOKEN);
        assertThat(basic).contains("the call has no token").doesNotContain(TOKEN);
        assertThat(asked).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void requestWithTheTokenIsServed(Version version, String call, WebRequest request) {
        assertThat(all(send(version, request.with("authorization", "Bearer " + TOKEN))))
                .containsIgnoringCase("hi");
        assertThat(all(send(version, request.with("authorization", "bearer " + TOKEN))))
                .containsIgnoringCase("hi");
        assertThat(asked).containsExactly(call, call);
    }

    @ParameterizedTest
    @MethodSource("requests")
    void authorizerRefusesCallsOfEveryProtocol(Version version, String call, WebRequest request) {
        WebAnswer answer =
                send(version, request.with("authorization", "Bearer " + TOKEN).with("stranger", "yes"));

        assertThat(all(answer)).contains("not for strangers").doesNotContain(TOKEN);
        assertThat(asked).containsExactly(call);
    }

    @ParameterizedTest
    @EnumSource
    void strangerIsAnsweredBeforeTheBodyHasCome(Version version) {
        try (WebClient client = version.connect(port)) {
            WebStream begun = client.begin(WebRequest.post(WORDS + "shoutJava", "application/json"));

            WebAnswer answer = begun.answer();

            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.header("www-authenticate")).isEqualTo("Bearer");
            assertThat(answer.header("tern-executed")).isEqualTo("no");
        }
    }

    @ParameterizedTest
    @EnumSource
    void unauthenticatedCallerDoesNotLearnTheExports(Version version) {
        for (String path :
                List.of("/no.Such/call", "/x", "/", "/grpc.health.v1.Health/x/y", "/grpc.health.v1.Health")) {
            assertThat(all(send(version, WebRequest.post(path, "application/json"))))
                    .as(path)
                    .doesNotContain(Words.class.getName())
                    .contains("401");
        }
    }

    @ParameterizedTest
    @EnumSource
    void pathWithoutANameIsShownInTheRefusal(Version version) {
        assertThat(all(send(version, WebRequest.of("GET", "/")))).contains("call of / refused: the call has no token");
    }

    @Test
    void healthNeedsNoTokenButReflectionDoes() throws Exception {
        try (GrpcPeer peer = new GrpcPeer(port)) {
            assertThat(HealthGrpc.newBlockingStub(peer.channel())
                            .check(HealthCheckRequest.getDefaultInstance())
                            .getStatus())
                    .isEqualTo(ServingStatus.SERVING);
            assertThat(asked).isEmpty();

            ServerReflectionRequest list =
                    ServerReflectionRequest.newBuilder().setListServices("*").build();
            assertThatThrownBy(() -> ClientCalls.blockingServerStreamingCall(
                                    peer.channel(),
                                    ServerReflectionGrpc.getServerReflectionInfoMethod().toBuilder()
                                            .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
                                            .build(),
                                    CallOptions.DEFAULT,
                                    list)
                            .next())
                    .isInstanceOfSatisfying(
                            StatusRuntimeException.class,
                            failure ->
                                    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED));
        }
    }

    @ParameterizedTest
    @EnumSource
    void probeAbove4KibIsRefused(Version version) {
        // field 15 of the message is unknown to the health service, so the service skips this field
        byte[] longest = new byte[4 << 10];
        longest[0] = 0x7A;
        longest[1] = (byte) (0x80 | ((longest.length - 3) & 0x7F));
        longest[2] = (byte) ((longest.length - 3) >> 7);
        for (String type : List.of("application/proto", "application/grpc-web+proto")) {
            int prefix = type.equals("application/proto") ? 0 : 5;
            byte[] longer = prefix == 0 ? Arrays.copyOf(longest, longest.length + 1) : TestFrame.of(0, longest);
            WebRequest request =
                    WebRequest.post("/grpc.health.v1.Health/Check", type).with("connect-protocol-version", "1");

            assertThat(all(send(version, request.body(longer))))
                    .as(type)
                    .contains("more than 4096 bytes")
                    .doesNotContain("SERVING");
        }
        assertThat(send(
                                version,
                                WebRequest.post("/grpc.health.v1.Health/Check", "application/proto")
                                        .with("connect-protocol-version", "1")
                                        .body(longest))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void probeIsNotCompressed() throws Exception {
        try (GrpcPeer peer = new GrpcPeer(port)) {
            assertThatThrownBy(() -> HealthGrpc.newBlockingStub(peer.channel())
                            .withCompression("gzip")
                            .check(HealthCheckRequest.newBuilder()
                                    .setService("x".repeat(100))
                                    .build()))
                    .isInstanceOfSatisfying(
                            StatusRuntimeException.class,
                            failure ->
                                    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
                    .hasMessageContaining("is compressed");
        }
    }

    @Test
    void grpcClientShowsTheTokenInItsHeader() throws Exception {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + TOKEN);
        StringValue empty = StringValue.getDefaultInstance();
        try (GrpcPeer peer = new GrpcPeer(port)) {
            StringValue answer = ClientCalls.blockingUnaryCall(
                    ClientInterceptors.intercept(peer.channel(), MetadataUtils.newAttachHeadersInterceptor(headers)),
                    GrpcPeer.unary(Words.class.getName(), "Shout", empty, empty),
                    CallOptions.DEFAULT,
                    StringValue.of("hi"));

            assertThat(answer.getValue()).isEqualTo("HI");
        }
        assertThat(asked).containsExactly("tri shout");
    }
}
