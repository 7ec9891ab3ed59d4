package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Probe;

/** Tests calls to providers of two releases over real connections. */
@Timeout(180)
class ReleasesSocketTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int CALLS = 100;

    /** The old release of a service. */
    @WireName("shop.Orders")
    public interface OldOrders {
        String find();

        String reserve(String item);
    }

    /** The new release of the same service. */
    @WireName("shop.Orders")
    public interface NewOrders {
        String find();

        String cancel();

        String reserve(String item, int count);
    }

    /** The new release, with a stream, which only Triple can send. */
    @WireName("shop.Orders")
    public interface NewFeeds extends NewOrders {
        Flow.Publisher<String> watch();
    }

    private static final class OldOrdersService implements OldOrders {
        @Override
        public String find() {
            return "old";
        }

        @Override
        public String reserve(String item) {
            return "old";
        }
    }

    private static final class NewOrdersService implements NewFeeds {
        @Override
        public String find() {
            return "new";
        }

        @Override
        public String cancel() {
            return "new";
        }

        @Override
        public String reserve(String item, int count) {
            return "new";
        }

        @Override
        public Flow.Publisher<String> watch() {
            SubmissionPublisher<String> publisher = new SubmissionPublisher<>();
            return subscriber -> {
                publisher.subscribe(subscriber);
                publisher.submit("new");
                publisher.close();
            };
        }
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }

    private Endpoint serve(ServiceExport export) {
        NettyServerTransport transport =
                new NettyServerTransport(ServerTransportSettings.onPort(0), loops, protocols.ofServer());
        RpcServer server = RpcServer.builder(ResourceLedger.watch(transport))
                .export(export)
                .build();
        open.add(server);
        server.start();
        return new Endpoint("127.0.0.1", transport.port());
    }

    private Endpoint serveOld() {
        return serve(ServiceExport.of(OldOrders.class, new OldOrdersService()));
    }

    private NewOrders refer(String protocol, Endpoint... endpoints) {
        return refer(NewOrders.class, protocol, endpoints);
    }

    private <T> T refer(Class<T> service, String protocol, Endpoint... endpoints) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("releases"), loops, protocols.ofClient(protocol)))
                .timeout(LONG)
                .build();
        open.add(client);
        return client.refer(ServiceReference.to(service, new StaticEndpoints(List.of(endpoints)))
                .protocol(protocol)
                .build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callsToANewMethodGoToTheNewRelease(String protocol) {
        NewOrders orders = refer(
                protocol, serveOld(), serve(ServiceExport.of(NewFeeds.class, new NewOrdersService())), serveOld());
        List<String> found = new ArrayList<>();

        for (int i = 0; i < CALLS; i++) {
            assertThat(orders.cancel()).isEqualTo("new");
            found.add(orders.find());
        }

        assertThat(found).contains("old", "new");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void callsWithANewParameterGoToTheNewRelease(String protocol) {
        NewOrders orders = refer(protocol, serveOld(), serve(ServiceExport.of(NewFeeds.class, new NewOrdersService())));

        for (int i = 0; i < CALLS; i++) {
            assertThat(orders.reserve("tea", 2)).isEqualTo("new");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void errorSaysThatNoProviderHasTheMethod(String protocol) {
        NewOrders orders = refer(protocol, serveOld(), serveOld());

        RpcException failure = catchThrowableOfType(RpcException.class, orders::cancel);

        assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure)
                .hasMessageContaining("has no method cancel")
                .hasMessageEndingWith("; both providers were asked, and none of them has the method");
    }

    @Test
    void streamsOfANewMethodComeFromTheNewRelease() throws InterruptedException {
        NewFeeds orders = refer(
                NewFeeds.class, "tri", serveOld(), serve(ServiceExport.of(NewFeeds.class, new NewOrdersService())));

        for (int i = 0; i < CALLS; i++) {
            Probe<String> answers = Probe.ofAll();
            orders.watch().subscribe(answers);
            assertThat(answers.rest()).containsExactly("new");
        }
    }
}
