package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcMethod;
import tern.rpc.ServerContext;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ServerTransport;

/** Tests that one-way calls are executed although their callers do not wait for answers. */
@Timeout(120)
class OneWayCallsTest {

    private static final int CALLS = 5;

    /** The service whose methods the tests call. */
    public interface Log {

        @RpcMethod(oneWay = true)
        void append(String line);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore mayEnd = new Semaphore(0);
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final ServerTransport transport = ResourceLedger.watch(
            new NettyServerTransport(ServerTransportSettings.onPort(0), loops, protocols.ofServer()));
    private final RpcServer server = serve();
    private final List<RpcClient> clients = new ArrayList<>();

    private RpcServer serve() {
        RpcServer made = RpcServer.builder(transport)
                .export(ServiceExport.of(Log.class, this::append))
                .workers(1, 2 * CALLS)
                .maxQueueWait(Duration.ofMinutes(1))
                .build();
        made.start();
        return made;
    }

    private void append(String line) {
        begun.release();
        mayEnd.acquireUninterruptibly();
        boolean cancelled = Objects.requireNonNull(ServerContext.current()).isCancelled();
        events.add(cancelled ? line + " is cancelled" : line);
    }

    @AfterEach
    void close() {
        mayEnd.release(1_000);
        clients.forEach(RpcClient::close);
        server.close();
        loops.close();
    }

    private Log refer(String protocol) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("log"), loops, protocols.ofClient(protocol)))
                .timeout(Duration.ofMinutes(1))
                .build();
        clients.add(client);
        return client.refer(ServiceReference.to(
                        Log.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                .protocol(protocol)
                .build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callsRunAfterTheirClientHasClosedItsConnection(String protocol) {
        Log log = refer(protocol);
        for (int i = 0; i < CALLS; i++) {
            log.append("line " + i);
        }
        Await.until("all requests have arrived", () -> transport.received() == CALLS);
        begun.acquireUninterruptibly();

        clients.get(0).close();
        Await.until("the connections are gone", () -> transport.connections() == 0);
        mayEnd.release(CALLS);

        Await.until("all lines are written", () -> events.size() == CALLS);
        assertThat(events).containsExactlyInAnyOrder("line 0", "line 1", "line 2", "line 3", "line 4");
        Await.until("no call is left", () -> transport.inFlight() == 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void serverStopsWhenItsCallsHaveEnded(String protocol) throws Exception {
        refer(protocol).append("line");
        begun.acquireUninterruptibly();
        Thread drain = new Thread(() -> {
            server.drain(Duration.ofMinutes(1));
            events.add("stopped");
        });
        drain.start();
        if (protocol.equals("dubbo")) {
            Await.until("the client has left", () -> transport.connections() == 0);
        }
        Await.until("the server waits", () -> drain.getState() == Thread.State.TIMED_WAITING);

        mayEnd.release();
        drain.join();

        assertThat(events).containsExactly("line", "stopped");
    }
}
