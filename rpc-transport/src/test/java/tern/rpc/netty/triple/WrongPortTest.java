package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests a client whose server speaks a different protocol. The call must fail with an error that names the server's
 * protocol, and must not be executed.
 */
class WrongPortTest {

    private static final String HEARTBEAT_ANSWER = "dabb2214" + "0000000000000000" + "00000001" + "4e";

    /** The first bytes that servers send. The key is the name of the protocol in the client's error message. */
    private static final Map<String, byte[]> SERVERS = Map.of(
            "HTTP/1.1", "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".getBytes(US_ASCII),
            "HTTP/2", HexFormat.of().parseHex("00000604000000000000030000" + "0080"),
            "TLS", HexFormat.of().parseHex("15030300020246"),
            "dubbo", HexFormat.of().parseHex(HEARTBEAT_ANSWER),
            "SSH", "SSH-2.0-OpenSSH_9.6\r\n".getBytes(US_ASCII),
            "SMTP", "220 mail.example ESMTP\r\n".getBytes(US_ASCII),
            "Redis", "-ERR unknown command\r\n".getBytes(US_ASCII),
            "MySQL", HexFormat.of().parseHex("4a0000000a382e302e333600"));

    private final EventLoops loops = EventLoops.start(1);
    private final HessianSerializer hessian = HessianSerializer.builder().build();
    private final TripleCodecs codecs =
            new TripleCodecs(hessian, new JsonCodec(JsonMapper.builder().build()), 0);
    private final ServerSocket listening = listen();
    // this semaphore has one permit for each socket that the client has closed
    private final Semaphore left = new Semaphore(0);
    private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();
    private RpcClient client;

    private static ServerSocket listen() {
        try {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        loops.close();
        listening.close();
        for (Socket socket : accepted) {
            socket.close();
        }
    }

    /**
     * Starts a server that sends the given bytes on every connection.
     *
     * @param first the bytes to send
     * @param atOnce whether to send the bytes immediately; otherwise after the first read
     */
    private void serve(byte[] first, boolean atOnce) {
        Thread thread = new Thread(() -> {
            while (!listening.isClosed()) {
                try {
                    Socket socket = listening.accept();
                    accepted.add(socket);
                    Thread answering = new Thread(() -> answer(socket, first, atOnce), "stranger");
                    answering.setDaemon(true);
                    answering.start();
                } catch (IOException closed) {
                    return;
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void answer(Socket socket, byte[] first, boolean atOnce) {
        try {
            if (!atOnce) {
                socket.getInputStream().read();
            }
            socket.getOutputStream().write(first);
            socket.getInputStream().readAllBytes();
        } catch (IOException reset) {
            // the client has closed the socket, as expected
        } finally {
            left.release();
        }
    }

    private RpcException call(String protocol) {
        MessageLimitsTest.Letters letters = refer(protocol);
        RpcException failure = catchThrowableOfType(RpcException.class, () -> letters.letters(1));
        assertThat(failure).hasMessageContaining(String.valueOf(listening.getLocalPort()));
        return failure;
    }

    private MessageLimitsTest.Letters refer(String protocol) {
        ClientProtocol spoken = switch (protocol) {
            case "dubbo" -> new DubboProtocol(hessian, 0);
            case "tri" -> new TripleClientProtocol(codecs);
            default -> new Http1ClientProtocol(codecs);
        };
        client = RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("lost"), loops, spoken))
                .timeout(Duration.ofSeconds(20))
                .build();
        Endpoint endpoint = new Endpoint("127.0.0.1", listening.getLocalPort());
        return client.refer(ServiceReference.to(MessageLimitsTest.Letters.class, new StaticEndpoints(List.of(endpoint)))
                .protocol(protocol)
                .build());
    }

    static Stream<Arguments> strangers() {
        return Stream.of("dubbo", "tri", "http")
                .flatMap(protocol -> SERVERS.keySet().stream()
                        .filter(server -> !server.equals(protocol))
                        .filter(server -> !(protocol.equals("tri") && server.equals("HTTP/2")))
                        .filter(server -> !(protocol.equals("http") && server.equals("HTTP/1.1")))
                        .flatMap(server ->
                                Stream.of(true, false).map(atOnce -> Arguments.of(protocol, server, atOnce))));
    }

    @ParameterizedTest
    @MethodSource("strangers")
    void errorNamesTheAnsweringProtocolAndIsNotExecuted(String protocol, String server, boolean atOnce) {
        serve(SERVERS.get(server), atOnce);

        RpcException failure = call(protocol);

        assertThat(failure).hasMessageContaining("it answered " + server).hasMessageContaining("?");
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    /**
     * The client closes its socket and then records the reason. A call between these two steps must also report the
     * reason.
     */
    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callThatComesWhileTheConnectionIsClosedSaysWhatAnswered(String protocol) throws Exception {
        serve(SERVERS.get("SSH"), true);

        for (int i = 0; i < 300; i++) {
            left.drainPermits();
            MessageLimitsTest.Letters letters = refer(protocol);
            left.acquire();
            RpcException failure = catchThrowableOfType(RpcException.class, () -> letters.letters(1));
            client.close();

            assertThat(failure).hasMessageContaining("it answered SSH");
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void textOfAnUnknownServerIsShown(String protocol) {
        serve("Unsupported command: x\r\n".getBytes(US_ASCII), false);

        RpcException failure = call(protocol);

        assertThat(failure).hasMessageContaining("'Unsupported command: x'");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void bytesThatProveNothingLeaveItOpenWhetherTheCallRan() {
        serve(HexFormat.of().parseHex("fe01fe02fe03fe04"), false);

        RpcException failure = call("dubbo");

        assertThat(failure).hasMessageContaining("fe01fe02");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
    }

    @Test
    void serverThatSpokeTheProtocolBeforeProvesNothingByAnotherOne() {
        serve(
                (new String(HexFormat.of().parseHex(HEARTBEAT_ANSWER), ISO_8859_1)
                                + "HTTP/1.1 503 Service Unavailable\r\n\r\n")
                        .getBytes(ISO_8859_1),
                false);

        assertThat(call("dubbo").wasExecuted()).isEqualTo(Executed.MAYBE);
    }
}
