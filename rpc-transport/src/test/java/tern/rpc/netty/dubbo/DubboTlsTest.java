package tern.rpc.netty.dubbo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetService;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.peer.TlsSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Tls.ClientAuth;

/** Tests which peers are accepted over TLS, which peers are refused, and which messages the refused peers get. */
@Timeout(60)
class DubboTlsTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");
    private static final TestAuthority OTHER_AUTHORITY = new TestAuthority("other authority");
    private static final String SERVER_BUNDLE = "bundle 'server'";
    private static final String CLIENT_BUNDLE = "bundle 'client'";
    private static final int ALERT = 0x15;
    private static final int PROTOCOL_VERSION = 70;
    private static final byte[] GOOD = Fixtures.bytes("dubbo-probe/ok.request.bin");
    private static final RawFrame GOOD_ANSWER = Fixtures.frame("dubbo-probe/ok.response.bin");

    private final Sides sides = new Sides();
    private final CapturedLog warnings = new CapturedLog("tern.rpc.netty");

    @AfterEach
    void close() {
        warnings.close();
        sides.close();
    }

    private static Tls ofServer() {
        return Tls.named(SERVER_BUNDLE)
                .withKeys(AUTHORITY.issue("server", "127.0.0.1", "localhost").keys())
                .withTrust(AUTHORITY.trust());
    }

    private static Tls ofClient() {
        return Tls.named(CLIENT_BUNDLE).withTrust(AUTHORITY.trust());
    }

    private static Tls ofClientWithCertificate() {
        return ofClient().withKeys(AUTHORITY.issue("client").keys());
    }

    private RpcServer serve(Tls tls) {
        return sides.serve(limits -> limits.withTls(() -> tls, false), settings -> {});
    }

    private RpcClient client(Tls tls) {
        return sides.client(limits -> limits.withTls(() -> tls));
    }

    private static Endpoint endpoint(RpcServer server) {
        return new Endpoint("127.0.0.1", server.port());
    }

    private GreetService refer(Tls tls, RpcServer server) {
        return Sides.refer(client(tls), reference -> {}, endpoint(server));
    }

    private static RpcException failureOf(GreetService service) {
        RpcException failure = catchThrowableOfType(RpcException.class, () -> service.echo("x"));
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        return failure;
    }

    private void awaitWarning(String part) {
        Await.until("a warning with " + part, () -> warnings.lines().stream().anyMatch(line -> line.contains(part)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void callSucceedsOverTls(String version) {
        RpcServer server = serve(ofServer().withProtocols(List.of(version)));

        assertThat(refer(ofClient(), server).echo("x")).isEqualTo("x");
    }

    @Test
    void certificatesAreNotNeededWhereClearTextIsServed() {
        Tls needing = ofServer().withClientAuth(ClientAuth.NEED);

        assertThatThrownBy(() -> sides.serve(limits -> limits.withTls(() -> needing, true), settings -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rpc.server.ssl.optional")
                .hasMessageContaining("rpc.server.ssl.client-auth");
    }

    @Test
    void certificatesThatBecomeNeededEndClearText() {
        AtomicReference<Tls> current = new AtomicReference<>(ofServer());
        RpcServer server = sides.serve(limits -> limits.withTls(current::get, true), settings -> {});
        current.set(ofServer().withClientAuth(ClientAuth.NEED));

        try (RawSocket stranger = RawSocket.connect(server.port())) {
            stranger.send(GOOD);

            assertThat(stranger.readFully(7)).startsWith((byte) ALERT);
            assertThat(stranger.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void chosenCipherIsUsed() {
        RpcServer server = serve(ofServer().withCiphers(List.of("TLS_AES_256_GCM_SHA384")));

        assertThat(refer(ofClient(), server).echo("x")).isEqualTo("x");
        assertThat(failureOf(refer(ofClient().withCiphers(List.of("TLS_AES_128_GCM_SHA256")), server)))
                .hasMessageContaining("handshake_failure");
    }

    @Test
    void certificateOfAnUnknownAuthorityIsRefused() {
        RpcServer server = serve(
                ofServer().withKeys(OTHER_AUTHORITY.issue("server", "127.0.0.1").keys()));

        assertThat(failureOf(refer(ofClient(), server)))
                .hasMessageContaining("TLS with 127.0.0.1:" + server.port() + " failed")
                .hasMessageContaining(
                        "the certificate of the server was not issued by an authority that bundle 'client' trusts");
        awaitWarning("its TLS handshake failed with bundle 'server'");
    }

    @Test
    void certificateOfAnotherHostIsRefused() {
        RpcServer server = serve(ofServer()
                .withKeys(AUTHORITY.issue("127.0.0.1", "10.0.0.7", "localhost").keys()));

        assertThat(failureOf(refer(ofClient(), server)))
                .hasMessageContaining("the certificate of the server is not for 127.0.0.1, the host in its address"
                        + " (set for instance by rpc.client.url)");
    }

    @Test
    void certificateThatHasExpiredIsRefused() {
        RpcServer server = serve(ofServer()
                .withKeys(AUTHORITY.issueExpired("server", "127.0.0.1").keys()));

        assertThat(failureOf(refer(ofClient(), server)))
                .hasMessageContaining("the certificate of the server is not valid today");
    }

    @Test
    void certificateMustHaveTheNameThatWasLookedUpAndNotTheAddress() {
        RpcServer server = serve(
                ofServer().withKeys(AUTHORITY.issue("server", "orders.internal").keys()));
        RpcClient client = client(ofClient());
        Endpoint wanted = new Endpoint("127.0.0.1", server.port(), "orders.internal");
        Endpoint wrong = new Endpoint("127.0.0.1", server.port(), "bills.internal");

        assertThat(Sides.refer(client, reference -> {}, wanted).echo("x")).isEqualTo("x");
        assertThat(failureOf(Sides.refer(client, reference -> {}, wrong)))
                .hasMessageContaining("TLS with bills.internal at 127.0.0.1:" + server.port() + " failed")
                .hasMessageContaining("not for bills.internal");
    }

    @Test
    void clientSendsTheHostNameAsSni() {
        try (RawServer server = RawServer.start()) {
            Sides.refer(client(ofClient()), reference -> {}, new Endpoint("127.0.0.1", server.port(), "orders"));

            RawSocket socket = server.next();
            int length = ByteBuffer.wrap(socket.readFully(5)).getShort(3);
            assertThat(new String(socket.readFully(length), US_ASCII)).contains("orders");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void clientWithoutACertificateIsRefusedWhereOneIsNeeded(String version) {
        RpcServer server = serve(ofServer().withClientAuth(ClientAuth.NEED).withProtocols(List.of(version)));

        assertThat(failureOf(refer(ofClient(), server)))
                .hasMessageContaining("the server refused")
                .hasMessageContaining("The client's certificate, if any, comes from bundle 'client'");
        awaitWarning("its TLS handshake failed with bundle 'server'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NEED", "WANT"})
    void clientWithACertificateThatTheAuthorityDidNotSignIsRefused(ClientAuth clientAuth) {
        RpcServer server = serve(ofServer().withClientAuth(clientAuth));
        TestAuthority ofTheSameName = new TestAuthority("authority");
        Tls foreign = ofClient().withKeys(ofTheSameName.issue("client").keys());

        assertThat(failureOf(refer(foreign, server))).hasMessageContaining("the server refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NEED", "WANT"})
    void serviceSeesTheNameInTheCertificateOfTheCaller(ClientAuth clientAuth) {
        BlockingQueue<Optional<Principal>> principals = new ArrayBlockingQueue<>(1);
        RpcServer server = serveAndTellPrincipals(ofServer().withClientAuth(clientAuth), principals);

        refer(ofClientWithCertificate(), server).echo("x");

        assertThat(principals.poll())
                .hasValueSatisfying(peer -> assertThat(peer.getName()).isEqualTo("CN=client"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"WANT", "NONE"})
    void callerWithoutACertificateHasNoPrincipalWhereNoneIsNeeded(ClientAuth clientAuth) {
        BlockingQueue<Optional<Principal>> principals = new ArrayBlockingQueue<>(1);
        RpcServer server = serveAndTellPrincipals(ofServer().withClientAuth(clientAuth), principals);

        refer(ofClient(), server).echo("x");

        assertThat(principals.poll()).isEmpty();
    }

    private RpcServer serveAndTellPrincipals(Tls tls, BlockingQueue<Optional<Principal>> principals) {
        ServerFilter filter = new ServerFilter() {
            @Override
            public CompletionStage<Response> invoke(Invocation call, Invoker next) {
                principals.add(Optional.ofNullable(
                        Objects.requireNonNull(ServerContext.current()).peerPrincipal()));
                return next.invoke(call);
            }
        };
        return sides.serve(limits -> limits.withTls(() -> tls, false), settings -> settings.filter(filter));
    }

    /** Tests a client that uses TLS 1.1. Java no longer supports this version, so the test sends the bytes itself. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tls11IsRefusedByAnAlert(boolean byteByByte) {
        RpcServer server = serve(ofServer());
        byte[] hello = ByteBuffer.allocate(50)
                .put(new byte[] {0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 2})
                .position(43) // The 32 random bytes of the ClientHello end at position 43.
                .put(new byte[] {0, 0, 2, (byte) 0xC0, 9, 1, 0})
                .array();
        try (RawSocket socket = RawSocket.connect(server.port())) {
            if (byteByByte) {
                socket.sendByteByByte(hello);
            } else {
                socket.send(hello);
            }

            byte[] alert = socket.readFully(7);
            assertThat(alert[0]).isEqualTo((byte) ALERT);
            assertThat(alert[6]).isEqualTo((byte) PROTOCOL_VERSION);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
        awaitWarning("its TLS handshake failed with bundle 'server'");
    }

    @Test
    void clearTextOnATlsPortIsClosedWithAWarningThatNamesTheProperty() {
        RpcServer server = serve(ofServer());
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(GOOD);

            assertThat(socket.readFully(7)).startsWith((byte) ALERT, (byte) 3);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
        assertThat(warnings.lines())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("WARN Closing a connection from /127.0.0.1:")
                .contains("the client speaks dubbo in clear text")
                .contains("rpc.client.ssl.bundle")
                .contains("rpc.server.ssl.optional=true");
    }

    @Test
    void clientWithoutTlsLearnsThatThePortUsesTls() {
        RpcServer server = serve(ofServer());
        RpcClient client = sides.client(limits -> limits);

        assertThat(failureOf(Sides.refer(client, reference -> {}, endpoint(server))))
                .hasMessageContaining("it answered TLS, not dubbo; is TLS required on this port")
                .hasMessageContaining("rpc.client.ssl.bundle");
    }

    @Test
    void tlsOnAClearTextPortIsExplainedOnBothSides() {
        RpcServer server = sides.serve();

        assertThat(failureOf(refer(ofClient(), server)))
                .hasMessageContaining(
                        "the server does not use TLS on this port (rpc.server.ssl.bundle there, or leave out ");
        awaitWarning("the client uses TLS, but this port does not (set rpc.server.ssl.bundle");
    }

    @Test
    void answerReachesAClientBeforeItsHelloIsComplete() {
        RpcServer server = sides.serve();
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(new byte[] {0x16, 3, 1, 2, 0}).send(new byte[100_000]);

            assertThat(new String(socket.readFully(29), US_ASCII)).isEqualTo("This port does not use TLS.\r\n");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void portWithOptionalTlsServesBothAndWarnsAtItsStart() {
        Tls tls = ofServer();
        RpcServer server = sides.serve(limits -> limits.withTls(() -> tls, true), settings -> {});

        assertThat(refer(ofClient(), server).echo("x")).isEqualTo("x");
        assertThat(sides.refer(endpoint(server)).echo("y")).isEqualTo("y");
        assertThat(warnings.lines())
                .containsExactly("WARN Port " + server.port() + " serves clear text in addition to TLS (set by"
                        + " rpc.server.ssl.optional); remove it when every client uses TLS");
    }

    @Test
    void tlsInsideTlsIsNoProtocol() throws Exception {
        RpcServer server = serve(ofServer());
        try (TlsSocket socket = new TlsSocket(server.port(), AUTHORITY, null)) {
            socket.frames().send(new byte[] {0x16, 3, 1, 0, 5});

            assertThat(socket.frames().isClosedByPeer()).isTrue();
        }
    }

    @Test
    void changedKeyIsShownToNewConnectionsAndOpenOnesStay() throws Exception {
        AtomicReference<Tls> current = new AtomicReference<>(ofServer());
        RpcServer server = sides.serve(limits -> limits.withTls(current::get, false), settings -> {});
        GreetService service = refer(ofClient(), server);
        service.echo("before");
        try (TlsSocket old = new TlsSocket(server.port(), AUTHORITY, null)) {
            assertThat(old.certificate()).isEqualTo(current.get().certificates().get(0));

            current.set(ofServer());

            assertThat(old.frames().send(GOOD).read()).isEqualTo(GOOD_ANSWER);
            assertThat(service.echo("after")).isEqualTo("after");
            try (TlsSocket fresh = new TlsSocket(server.port(), AUTHORITY, null)) {
                assertThat(fresh.certificate())
                        .isEqualTo(current.get().certificates().get(0))
                        .isNotEqualTo(old.certificate());
                assertThat(fresh.frames().send(GOOD).read()).isEqualTo(GOOD_ANSWER);
            }
            assertThat(old.frames().send(GOOD).read()).isEqualTo(GOOD_ANSWER);
        }
    }

    @Test
    void unusableChangeIsReportedOnceAndIgnored() throws Exception {
        AtomicReference<Tls> current = new AtomicReference<>(ofServer());
        RpcServer server = sides.serve(limits -> limits.withTls(current::get, false), settings -> {});
        Tls good = current.get();

        current.set(Tls.named("bundle 'without key'"));

        for (int i = 0; i < 3; i++) {
            try (TlsSocket socket = new TlsSocket(server.port(), AUTHORITY, null)) {
                assertThat(socket.certificate()).isEqualTo(good.certificates().get(0));
            }
        }
        assertThat(warnings.lines())
                .containsExactly("ERROR bundle 'without key' was changed and cannot be used; new connections"
                        + " keep using the previous version");
    }

    @Test
    void clientWithAnExtendedTrustStoreConnects() {
        RpcServer server = serve(
                ofServer().withKeys(OTHER_AUTHORITY.issue("server", "127.0.0.1").keys()));
        AtomicReference<Tls> current = new AtomicReference<>(ofClient());
        RpcClient client = sides.client(limits -> limits.withTls(current::get));
        GreetService service = Sides.refer(client, reference -> {}, endpoint(server));
        failureOf(service);

        current.set(ofClient().withTrust(OTHER_AUTHORITY.trust()));

        ClientConnection connection = client.connections().get(0);
        Await.until("it is connected", connection::isAvailable);
        assertThat(service.echo("x")).isEqualTo("x");
    }

    @Test
    void referenceWithKeysOfItsOwnHasAConnectionOfItsOwn() {
        RpcServer server = serve(ofServer().withClientAuth(ClientAuth.NEED));
        Tls own = ofClientWithCertificate();
        RpcClient client = client(ofClient());

        GreetService without = Sides.refer(client, reference -> {}, endpoint(server));
        GreetService with = Sides.refer(client, reference -> reference.tls(() -> own), endpoint(server));

        assertThat(with.echo("x")).isEqualTo("x");
        failureOf(without);
        assertThat(client.connections()).hasSize(2);
    }

    @Test
    void serverWithoutAKeyIsNotCreated() {
        assertThatThrownBy(() -> serve(ofClient()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bundle 'client' cannot be used: it has no key with a certificate");
    }

    @Test
    void silentClientIsCutOff() {
        RpcServer server = serve(ofServer().withHandshakeTimeout(Duration.ofMillis(50)));
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(new byte[] {0x16, 3, 1});

            assertThat(socket.isClosedByPeer()).isTrue();
        }
        awaitWarning("handshake timed out after 50ms");
        Await.until("its connection is gone", () -> server.connections() == 0);
    }

    @Test
    void clientThatStopsInsideItsFirstBytesOverTlsIsClosed() throws Exception {
        Tls tls = ofServer();
        RpcServer server = sides.serve(
                limits -> limits.withFirstBytesTimeout(Duration.ofSeconds(1)).withTls(() -> tls, false),
                settings -> {});
        try (TlsSocket socket = new TlsSocket(server.port(), AUTHORITY, null)) {
            socket.frames().send(new byte[] {(byte) 0xDA});

            assertThat(socket.frames().isClosedByPeer()).isTrue();
        }
    }

    @Test
    void handshakeWithASilentServerTimesOut() {
        try (RawServer server = RawServer.start()) {
            GreetService service = Sides.refer(
                    client(ofClient().withHandshakeTimeout(Duration.ofMillis(50))), reference -> {}, server.endpoint());

            assertThat(failureOf(service)).hasMessageContaining("the handshake took longer than 50 ms");
        }
    }

    @Test
    void serverThatClosesOrAnswersInClearTextIsNamedAsOneWithoutTls() {
        try (RawServer server = RawServer.start()) {
            RpcClient client = client(ofClient());
            Sides.refer(client, reference -> {}, server.endpoint());
            ClientConnection connection = client.connections().get(0);

            RawSocket first = server.next();
            // the test reads all bytes, because closing a socket with unread bytes would reset the connection
            first.readFully(ByteBuffer.wrap(first.readFully(5)).getShort(3));
            first.close();
            Await.until(
                    "the first was refused",
                    () -> connection.lastFailure().contains("it may not use TLS on this port"));
            server.next().send(RawFrame.heartbeat(1));
            Await.until(
                    "the second was refused",
                    () -> connection.lastFailure().contains("the server does not use TLS on this port"));
        }
    }

    @Test
    void callsWaitForTheHandshakeAndAreLostUnsentWithIt() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client = client(ofClient());
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            RawSocket socket = server.next();
            BlockingQueue<RpcException> failures = new ArrayBlockingQueue<>(1);
            Thread caller = new Thread(() -> failures.add(failureOf(service)));
            caller.start();
            ClientConnection connection = client.connections().get(0);
            Await.until("the call is queued", () -> connection.queuedBytes() > 0);

            assertThat(connection.isAvailable()).isFalse();
            assertThat(connection.isConnecting()).isTrue();
            server.stopListening();
            socket.close();

            assertThat(failures.poll(30, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void protocolsByNameAreAnsweredAndDubboNeedsNone() throws Exception {
        RpcServer server = serve(ofServer());

        assertThat(chosen(server, "h2", "http/1.1")).isEqualTo("h2");
        assertThat(chosen(server, "http/1.1")).isEqualTo("http/1.1");
        assertThat(chosen(server, "other")).isEmpty();
        assertThat(chosen(server)).isEmpty();
    }

    private static String chosen(RpcServer server, String... offered) throws IOException {
        try (TlsSocket socket = new TlsSocket(server.port(), AUTHORITY, null, offered)) {
            assertThat(socket.frames().send(GOOD).read()).isEqualTo(GOOD_ANSWER);
            return socket.applicationProtocol();
        }
    }

    /** Uses a Netty client, because Java's sockets do not report a connection that ends without close_notify. */
    @Test
    void peerThatBreaksTheProtocolInsideTlsGetsTheReasonAndACloseNotify() throws Exception {
        RpcServer server = serve(ofServer());
        SslContext context =
                SslContextBuilder.forClient().trustManager(AUTHORITY.trust()).build();
        CompletableFuture<String> answer = new CompletableFuture<>();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel channel = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel opened) {
                            opened.pipeline()
                                    .addLast(context.newHandler(opened.alloc(), "127.0.0.1", server.port()))
                                    .addLast(new SimpleChannelInboundHandler<ByteBuf>() {
                                        @Override
                                        protected void channelRead0(ChannelHandlerContext handler, ByteBuf read) {
                                            answer.complete(read.toString(US_ASCII));
                                        }
                                    });
                        }
                    })
                    .connect("127.0.0.1", server.port())
                    .sync()
                    .channel();
            SslHandler tls = channel.pipeline().get(SslHandler.class);

            channel.writeAndFlush(Unpooled.wrappedBuffer(RawFrame.header(RawFrame.TWO_WAY, 0, 7, 1 << 30)));

            assertThat(answer.get(30, TimeUnit.SECONDS)).contains("the request has 1073741824 bytes");
            assertThat(tls.sslCloseFuture().await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(tls.sslCloseFuture().isSuccess()).isTrue();
        } finally {
            loops.shutdownGracefully(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void largeMessagePasses() {
        RpcServer server = serve(ofServer());
        String large = "x".repeat(3_000_000);

        assertThat(refer(ofClient(), server).echo(large)).isEqualTo(large);
    }
}
