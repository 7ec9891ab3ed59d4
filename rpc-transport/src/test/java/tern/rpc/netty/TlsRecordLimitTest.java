package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Tests the limits on TLS records without application data. Both sides use Java's TLS engine. */
class TlsRecordLimitTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");

    /** The header of a TLS record of 64 bytes, and the first part of these bytes. */
    private static final byte[] PART_OF_A_RECORD = {0x17, 3, 3, 0, 64, 1, 2, 3};

    private final List<String> closing = new ArrayList<>();
    private final EmbeddedChannel server = new EmbeddedChannel();
    private final ByteBuffer toClient = ByteBuffer.allocate(1 << 18).flip();
    private long received; // the number of received bytes of application data

    @AfterEach
    void close() {
        server.finishAndReleaseAll();
    }

    private SSLEngine connect(String version) throws GeneralSecurityException, SSLException {
        SSLEngine client = begin(version, Runnable::run);
        client.beginHandshake();
        exchange(client);
        assertThat(client.getSession().getProtocol()).isEqualTo(version);
        return client;
    }

    /**
     * Creates both sides of a connection.
     *
     * @param handshakes runs the computations of the server's handshake
     */
    private SSLEngine begin(String version, Executor handshakes) throws GeneralSecurityException {
        Tls tls = Tls.named("bundle 'server'")
                .withKeys(AUTHORITY.issue("server", "127.0.0.1").keys())
                .withProtocols(List.of(version));
        TlsContext context = TlsContext.ofServer(() -> tls);
        server.pipeline().addLast(context.newHandler(server, handshakes, closing::add));
        server.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext read, Object message) {
                ByteBuf data = (ByteBuf) message;
                received += data.readableBytes();
                data.release();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) {
                failed.close();
            }
        });
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, AUTHORITY.trust().getTrustManagers(), null);
        SSLEngine client = trusting.createSSLEngine();
        client.setUseClientMode(true);
        return client;
    }

    /** Passes on the records of both sides until neither side has another record. */
    private void exchange(SSLEngine client) throws SSLException {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Runnable task = client.getDelegatedTask(); task != null; task = client.getDelegatedTask()) {
                task.run();
            }
            if (client.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                send(client, new byte[0]);
                moved = true;
            }
            moved |= readAll(client);
        }
    }

    private boolean readAll(SSLEngine client) throws SSLException {
        for (ByteBuf out = server.readOutbound(); out != null; out = server.readOutbound()) {
            toClient.compact();
            toClient.limit(toClient.position() + out.readableBytes());
            out.readBytes(toClient);
            toClient.flip();
            out.release();
        }
        int before = toClient.remaining();
        ByteBuffer data = ByteBuffer.allocate(client.getSession().getApplicationBufferSize());
        int left;
        do {
            left = toClient.remaining();
            client.unwrap(toClient, data);
        } while (toClient.hasRemaining() && toClient.remaining() < left);
        return toClient.remaining() < before;
    }

    private void send(SSLEngine client, byte[] data) throws SSLException {
        ByteBuffer record = record(client, data);
        if (server.isOpen()) {
            server.writeInbound(Unpooled.copiedBuffer(record));
        }
    }

    private static ByteBuffer record(SSLEngine client, byte[] data) throws SSLException {
        ByteBuffer record = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
        client.wrap(ByteBuffer.wrap(data), record);
        return record.flip();
    }

    private void changeKeys(SSLEngine client) throws SSLException {
        client.beginHandshake();
        exchange(client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void recordsWithDataAreNotLimited(String version) throws Exception {
        SSLEngine client = connect(version);

        for (int i = 0; i < 5 * TlsRecordLimit.MAX_RECORDS; i++) {
            send(client, new byte[1]);
        }

        assertThat(received).isEqualTo(5L * TlsRecordLimit.MAX_RECORDS);
        assertThat(server.isOpen()).isTrue();
        assertThat(closing).isEmpty();
    }

    @Test
    void incompleteRecordCountsInTheMemoryForRequests() throws Exception {
        SSLEngine client = connect("TLSv1.3");
        ServerTransportSettings settings = ServerTransportSettings.onPort(0);
        InboundBudget budget = InboundBudget.forAll(settings.maxInboundBytes());
        ServerPort port = new ServerPort(
                settings,
                new DrainingTest.NoCalls(),
                new ServerCounters(),
                budget,
                InboundBudget.forStrangers(settings.maxInboundBytes()),
                new FairBudget(settings.maxHeadBytes()),
                new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes()),
                new Tenancy.Of(),
                new IdleSweep(settings.idleTimeout(), List.of()));
        ServerConnection connection = new ServerConnection(port, server, InetAddress.getLoopbackAddress());
        server.pipeline().get(ServerTlsHandler.class).countIn(new IncompleteInput(connection, closing::add));
        ByteBuffer record = record(client, new byte[16_000]);

        server.writeInbound(Unpooled.copiedBuffer(record.slice(0, 10_000)));
        assertThat(budget.used()).isGreaterThanOrEqualTo(10_000);
        server.writeInbound(Unpooled.copiedBuffer(record.slice(10_000, record.remaining() - 10_000)));

        assertThat(budget.used()).isZero();
        assertThat(received).isEqualTo(16_000);
        assertThat(closing).isEmpty();
        connection.closed();
    }

    /** Tests a server whose threads for handshakes are busy. */
    @Test
    void timeOfTheServersOwnComputationsIsNoFaultOfTheClient() throws Exception {
        Queue<Runnable> computations = new ArrayDeque<>();
        SSLEngine client = begin("TLSv1.3", computations::add);
        server.pipeline()
                .get(ServerTlsHandler.class)
                .countIn(new IncompleteInput(new SlowReading(server, Duration.ofHours(1)), closing::add));
        client.beginHandshake();
        send(client, new byte[0]);
        server.writeInbound(Unpooled.copiedBuffer(PART_OF_A_RECORD));
        assertThat(computations).as("the first message of the client is read").hasSize(1);

        pass(SlowReading.FIRST_BYTES);
        assertThat(closing).isEmpty();

        while (!computations.isEmpty()) {
            computations.remove().run();
            server.runPendingTasks();
        }
        pass(SlowReading.FIRST_BYTES);
        assertThat(closing).as("the client does not complete its record").containsExactly(SlowReading.REASON);
    }

    private void pass(Duration time) {
        server.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        server.runScheduledPendingTasks();
    }

    @Test
    void secondHandshakeOfTls12IsRefused() throws Exception {
        SSLEngine client = connect("TLSv1.2");
        send(client, new byte[100]);

        client.beginHandshake();
        exchange(client);

        assertThat(server.isOpen()).isFalse();
        assertThat(closing).singleElement().asString().contains("another TLS handshake");
        assertThat(received).isEqualTo(100);
    }

    @Test
    void changesOfKeysAreLimited() throws Exception {
        SSLEngine client = connect("TLSv1.3");
        int changes = 0;

        while (server.isOpen() && changes <= 2 * TlsRecordLimit.MAX_RECORDS) {
            changeKeys(client);
            changes++;
            if (changes % 10 == 0 && server.isOpen()) {
                send(client, new byte[100]);
            }
        }

        assertThat(changes).isBetween(TlsRecordLimit.MAX_RECORDS / 2, TlsRecordLimit.MAX_RECORDS + 1);
        assertThat(closing).singleElement().asString().contains("1001 TLS records without data");
        assertThat(received).isPositive();
    }

    @Test
    void recordsAreCountedSeparatelyInEachTimeWindow() throws Exception {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
        TlsRecordLimit limit = new TlsRecordLimit(server, now::get, closing::add);

        for (int window = 0; window < 3; window++) {
            for (int i = 0; i < TlsRecordLimit.MAX_RECORDS; i++) {
                limit.count();
            }
            now.addAndGet(Duration.ofSeconds(30).toNanos());
        }

        assertThat(closing).isEmpty();
    }

    @Test
    void recordsOfAClientThatDoesNotReadAreLimitedForEver() {
        AtomicLong now = new AtomicLong();
        TlsRecordLimit limit = new TlsRecordLimit(server, now::get, closing::add);
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);

        for (int i = 0; i < TlsRecordLimit.MAX_UNREAD; i++) {
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThatCode(limit::count).doesNotThrowAnyException();
        }

        assertThatThrownBy(limit::count).isInstanceOf(SSLException.class).hasMessageContaining("did not read");
        assertThat(closing).hasSize(1);
    }
}
