package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientConnection;

/** Tests connection attempts started by calls. All scheduled pauses between attempts are longer than the test. */
@Timeout(120)
class ReconnectByCallTest {

    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    private static final byte[] GO_AWAY = {0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    public interface Work {
        String quick(String name);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final AtomicLong now = new AtomicLong();
    private @Nullable RpcClient client;

    @AfterEach
    void close() throws Exception {
        if (client != null) {
            client.close();
        }
        loops.close();
    }

    private Work refer(String protocol, int port) {
        ClientTransportSettings patient =
                ClientTransportSettings.named("reconnect").withReconnect(Duration.ofDays(1), Duration.ofDays(1));
        RpcClient made = RpcClient.builder()
                .transport(new NettyClientTransport(patient, loops, protocols.ofClient(protocol), now::get))
                .timeout(Duration.ofSeconds(20))
                .build();
        client = made;
        return made.refer(ServiceReference.to(Work.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", port))))
                .protocol(protocol)
                .build());
    }

    private RpcServer serve(int port) {
        RpcServer server = RpcServer.builder(ResourceLedger.watch(
                        new NettyServerTransport(ServerTransportSettings.onPort(port), loops, protocols.ofServer())))
                .export(ServiceExport.of(Work.class, name -> name))
                .build();
        server.start();
        return server;
    }

    private static boolean succeeds(Work work) {
        try {
            return work.quick("a").equals("a");
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(e.wasExecuted()).isEqualTo(Executed.NO);
            return false;
        }
    }

    /**
     * @param maySend whether the request might have been sent
     */
    private static void assertFails(Work work, boolean maySend) {
        try {
            work.quick("a");
            throw new AssertionError("a call that nobody answers");
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
            if (!maySend) {
                assertThat(e.wasExecuted()).isEqualTo(Executed.NO);
            }
        }
    }

    private static void failUntilAllAttemptsOfTheBeginningAreOver(Work work) {
        Await.until("the pause has begun", () -> {
            try {
                work.quick("a");
                return false;
            } catch (RpcException e) {
                return e.getMessage().contains("reconnecting in the background");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callThatFindsNobodyConnectedBeginsAnAttempt(String protocol) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Work work = refer(protocol, port);
        failUntilAllAttemptsOfTheBeginningAreOver(work);
        try (RpcServer server = serve(port)) {
            assertThat(server.port()).isEqualTo(port);
            now.addAndGet(PAUSE_NANOS);

            // The client might already be connected. A failed call begins an attempt in the background, and on a busy
            // machine this attempt might reach the port only after the server has opened it.
            Await.until("it is called", () -> succeeds(work));

            assertThat(succeeds(work)).isTrue();
            assertThat(client.connections().get(0).timesAvailable()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void connectionSaysWhenItsNextAttemptBegins(String protocol) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        failUntilAllAttemptsOfTheBeginningAreOver(refer(protocol, port));

        ClientConnection only = client.connections().get(0);
        Await.until("the pause has begun", () -> only.untilNextAttemptNanos() >= 0);
        assertThat(only.untilNextAttemptNanos()).isLessThanOrEqualTo(TimeUnit.DAYS.toNanos(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void callsBeginOneAttemptInHalfASecondAtTheMost(String protocol) throws Exception {
        countAttempts(protocol, new byte[0]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void serverThatGreetsAndClosesIsNotConnectedToWithoutAPause(String protocol) throws Exception {
        countAttempts(protocol, protocol.equals("dubbo") ? RawFrame.heartbeat(1).bytes() : SETTINGS);
    }

    @Test
    void serverThatGreetsAndGoesAwayIsNotConnectedToWithoutAPause() throws Exception {
        byte[] both = Arrays.copyOf(SETTINGS, SETTINGS.length + GO_AWAY.length);
        System.arraycopy(GO_AWAY, 0, both, SETTINGS.length, GO_AWAY.length);
        countAttempts("tri", both);
    }

    /** @param greeting the bytes that the server sends before it closes a connection */
    private void countAttempts(String protocol, byte[] greeting) throws Exception {
        AtomicLong accepted = new AtomicLong();
        try (ServerSocket closing = new ServerSocket(0)) {
            Thread acceptor = new Thread(() -> {
                try {
                    while (true) {
                        Socket connection = closing.accept();
                        accepted.incrementAndGet();
                        connection.getOutputStream().write(greeting);
                        connection.close();
                    }
                } catch (java.io.IOException e) {
                    // the test has ended and closed the socket
                }
            });
            acceptor.setDaemon(true);
            acceptor.start();
            int port = closing.getLocalPort();
            Work work = refer(protocol, port);
            failUntilAllAttemptsOfTheBeginningAreOver(work);
            now.addAndGet(PAUSE_NANOS);
            long before = accepted.get();

            for (int i = 0; i < 3; i++) {
                int round = i + 1;
                Await.until("an attempt was made", () -> {
                    assertFails(work, greeting.length > 0);
                    return accepted.get() >= before + round;
                });
                for (int j = 0; j < 300; j++) {
                    assertFails(work, greeting.length > 0);
                }
                // The first attempts have no pause between them, and the test might count an attempt late. Up to three
                // more attempts are therefore permitted.
                assertThat(accepted.get()).isBetween(before + round, before + round + 3);
                now.addAndGet(PAUSE_NANOS);
            }
        }
    }
}
