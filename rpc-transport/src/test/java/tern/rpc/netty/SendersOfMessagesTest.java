package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.protocols.ServerProtocols;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests that the sender of each message is passed to the reader. Readers let the senders of expensive messages take
 * turns.
 */
class SendersOfMessagesTest {

    /** A service with a method that answers and a method that fails. */
    public interface Echo {
        String echo(String text);

        String fail(String text);
    }

    /** Records the senders that are passed to its readers. */
    private static final class Recorded implements Serializer {
        private final Serializer hessian = HessianSerializer.builder().build();
        final Set<Object> senders = ConcurrentHashMap.newKeySet();
        final AtomicInteger unknown = new AtomicInteger();

        @Override
        public String name() {
            return hessian.name();
        }

        @Override
        public void prepare(ServiceDescriptor service) {
            hessian.prepare(service);
        }

        @Override
        public ObjectWriter newWriter() {
            return hessian.newWriter();
        }

        @Override
        public ObjectReader newReader() {
            ObjectReader reader = hessian.newReader();
            return (ObjectReader) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {ObjectReader.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("start") && !arguments[2].equals(0)) {
                            if (arguments.length == 4) {
                                senders.add(arguments[3]);
                            } else {
                                unknown.incrementAndGet();
                            }
                        }
                        try {
                            return method.invoke(reader, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    private final List<AutoCloseable> closing = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).close();
        }
    }

    private <T extends AutoCloseable> T closed(T opened) {
        closing.add(opened);
        return opened;
    }

    private int serve(Recorded serializer, EventLoops loops) {
        RpcServer server = closed(RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0),
                        loops,
                        ServerProtocols.all(serializer, null, HttpSettings.defaults())))
                .export(ServiceExport.of(Echo.class, new Echo() {
                    @Override
                    public String echo(String text) {
                        return text;
                    }

                    @Override
                    public String fail(String text) {
                        throw new IllegalStateException(text);
                    }
                }))
                .build());
        server.start();
        return server.port();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void senderIsPassedToReadersOfRequestsAndAnswers(String protocol) {
        Recorded ofServer = new Recorded();
        Recorded ofClient = new Recorded();
        EventLoops loops = closed(EventLoops.start(1));
        Endpoint endpoint = new Endpoint("127.0.0.1", serve(ofServer, loops));
        ClientTransportSettings settings = ClientTransportSettings.named("caller");
        RpcClient client = closed(RpcClient.builder()
                .transport(new NettyClientTransport(settings, loops, new DubboProtocol(ofClient, 0)))
                .transport(new NettyClientTransport(
                        settings, loops, new TripleClientProtocol(new TripleCodecs(ofClient, null, 0))))
                .build());
        Echo echo = client.refer(ServiceReference.to(Echo.class, new StaticEndpoints(List.of(endpoint)))
                .protocol(protocol)
                .build());

        assertThat(echo.echo("a")).isEqualTo("a");
        assertThatThrownBy(() -> echo.fail("b")).isInstanceOf(IllegalStateException.class);

        assertThat(ofServer.senders).containsExactly(InetAddress.getLoopbackAddress());
        assertThat(ofClient.senders).containsExactly("127.0.0.1");
        assertThat(ofServer.unknown).hasValue(0);
        assertThat(ofClient.unknown).hasValue(0);
    }
}
