package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import com.example.wire.Person;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.service.GenericService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallHead;
import tern.rpc.CallOptions;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.GenericException;
import tern.rpc.transport.Token;

/** Tests tokens and authorizers in calls between Tern and a real Apache Dubbo instance. */
@Timeout(120)
class TokenInteropTest {

    private static final String TOKEN = "secret-0123456789";

    private final EventLoops loops = EventLoops.start(2);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }

    private <T extends AutoCloseable> T closed(T later) {
        open.add(later);
        return later;
    }

    private static HessianSerializer serializer() {
        return HessianSerializer.builder()
                .alias(GenericException.class, GenericException.WIRE_NAME)
                .build();
    }

    private int serve(Consumer<RpcServer.Builder> settings) {
        HessianSerializer serializer = serializer();
        RpcServer.Builder builder = RpcServer.builder(ResourceLedger.watch(new NettyServerTransport(
                        ServerTransportSettings.onPort(0),
                        loops,
                        List.of(
                                new DubboProtocol(serializer, 0),
                                new TripleProtocol(new TripleCodecs(serializer, null, 0), HttpSettings.defaults())))))
                .genericCalls(true)
                .export(ServiceExport.of(GreetService.class, new GreetServer()));
        settings.accept(builder);
        RpcServer server = closed(builder.build());
        server.start();
        return server.port();
    }

    private static void withToken(ReferenceConfig<?> reference, String token) {
        reference.setParameters(new HashMap<>(Map.of("token", token)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void dubboConsumerWithTheTokenInItsUrlIsServed(String protocol) {
        int port = serve(server -> server.token(Token.of(TOKEN)));
        DubboPeer dubbo = closed(new DubboPeer("token-" + protocol, protocol));

        GreetService service =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> withToken(reference, TOKEN));

        assertThat(service.echo("x")).isEqualTo("x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void dubboConsumerWithTheTokenAsAttachmentIsServed(String protocol) {
        int port = serve(server -> server.token(Token.of(TOKEN)));
        DubboPeer dubbo = closed(new DubboPeer("attachment-" + protocol, protocol));
        GreetService service = dubbo.refer(GreetService.class, dubbo.url(port), reference -> {});

        RpcContext.getClientAttachment().setAttachment("token", TOKEN);
        assertThat(service.echo("x")).isEqualTo("x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void dubboConsumerWithAMissingOrWrongTokenGetsTheReason(String protocol) {
        int port = serve(server -> server.token(Token.of(TOKEN)));
        DubboPeer dubbo = closed(new DubboPeer("wrong-" + protocol, protocol));
        GreetService without = dubbo.refer(GreetService.class, dubbo.url(port), reference -> {});
        GreetService wrong =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> withToken(reference, "guess"));

        assertThatThrownBy(() -> without.echo("x"))
                .isInstanceOf(org.apache.dubbo.rpc.RpcException.class)
                .hasMessageContaining("the call has no token");
        assertThatThrownBy(() -> wrong.echo("x"))
                .isInstanceOf(org.apache.dubbo.rpc.RpcException.class)
                .hasMessageContaining("does not accept the call's token");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void genericCallIsAuthorizedForItsActualMethodBeforeItsArgumentsExist(String protocol) {
        int port = serve(server -> server.authorizer(this::onlyEcho));
        DubboPeer dubbo = closed(new DubboPeer("generic-" + protocol, protocol));
        GenericService generic = dubbo.refer(GenericService.class, dubbo.url(port), reference -> {
            reference.setInterface(GreetService.class.getName());
            reference.setGeneric("true");
        });

        assertThat(generic.$invoke("echo", new String[] {"java.lang.String"}, new Object[] {"x"}))
                .isEqualTo("x");
        assertThatThrownBy(() ->
                        generic.$invoke("pojo", new String[] {Person.class.getName()}, new Object[] {new HashMap<>()}))
                .hasMessageContaining("pojo is for others");

        assertThat(asked).containsExactly("echo", "pojo");
    }

    private @Nullable Principal onlyEcho(CallHead call) {
        asked.add(call.method());
        if (!call.method().equals("echo")) {
            throw RpcAuthorizer.denied(call.method() + " is for others");
        }
        return null;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void dubboProviderWithATokenAcceptsOurToken(String protocol) {
        DubboPeer dubbo = closed(new DubboPeer("provider-" + protocol, protocol));
        dubbo.provide(GreetService.class, new GreetServer(), service -> service.setToken(TOKEN));
        HessianSerializer serializer = serializer();
        ClientProtocol wire = protocol.equals("dubbo")
                ? new DubboProtocol(serializer, 0)
                : new TripleClientProtocol(new TripleCodecs(serializer, null, 0));
        RpcClient client = closed(RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("ours"), loops, wire))
                .timeout(Duration.ofSeconds(20))
                .build());
        ServiceReference.Builder<GreetService> to = ServiceReference.to(
                        GreetService.class, new StaticEndpoints(List.of(dubbo.endpoint())))
                .protocol(protocol);

        GreetService without = client.refer(to.build());
        GreetService with = client.refer(to.token(Token.of(TOKEN)).build());
        // Over Triple, Dubbo also expects the token as an attachment, which is sent as a header.
        GreetService shown = protocol.equals("dubbo")
                ? with
                : CallOptions.none().header("token", TOKEN).on(without);

        assertThat(catchThrowableOfType(RpcException.class, () -> without.echo("x"))
                        .code())
                .isNotEqualTo(StatusCode.OK);
        assertThat(shown.echo("x")).isEqualTo("x");
    }
}
