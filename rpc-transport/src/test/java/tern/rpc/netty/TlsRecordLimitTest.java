package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
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
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Tests the limits on TLS records without application data, on both sides. The peers use Java's TLS engine. */
class TlsRecordLimitTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");

    /** The header of a TLS record of 64 bytes, and the first part of these bytes. */
    private static final byte[] PART_OF_A_RECORD = {0x17, 3, 3, 0, 64, 1, 2, 3};

    private final List<String> closing = new ArrayList<>();
    private @Nullable EmbeddedTls opened;

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private EmbeddedTls connect(String version) throws GeneralSecurityException, SSLException {
        EmbeddedTls server = begin(version, Runnable::run);
        server.connect(version);
        return server;
    }

    /**
     * Creates a server's side of a connection, with a client as the peer.
     *
     * @param handshakes runs the computations of the server's handshake
     */
    private EmbeddedTls begin(String version, Executor handshakes) throws GeneralSecurityException {
        Tls tls = Tls.named("bundle 'server'")
                .withKeys(AUTHORITY.issue("server", "127.0.0.1").keys())
                .withProtocols(List.of(version));
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, AUTHORITY.trust().getTrustManagers(), null);
        SSLEngine client = trusting.createSSLEngine();
        client.setUseClientMode(true);
        EmbeddedTls server = new EmbeddedTls(client);
        opened = server;
        server.add(TlsContext.ofServer(() -> tls).newHandler(server.channel, handshakes, closing::add));
        return server;
    }

    /** Creates a client's side of a connection, with a server as the peer. */
    private EmbeddedTls connectToServer(String version) throws GeneralSecurityException, SSLException {
        Tls tls = Tls.named("bundle 'client'").withTrust(AUTHORITY.trust()).withProtocols(List.of(version));
        SSLContext keys = SSLContext.getInstance("TLS");
        keys.init(AUTHORITY.issue("server", "127.0.0.1").keys().getKeyManagers(), null, null);
        SSLEngine server = keys.createSSLEngine();
        server.setUseClientMode(false);
        EmbeddedTls client = new EmbeddedTls(server);
        opened = client;
        client.add(TlsContext.ofClient(() -> tls, List.of())
                .newHandler(client.channel, new Endpoint("127.0.0.1", 1), closing::add));
        client.connect(version);
        return client;
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void recordsWithDataAreNotLimited(String version) throws Exception {
        EmbeddedTls server = connect(version);

        for (int i = 0; i < 5 * TlsRecordLimit.MAX_RECORDS; i++) {
            server.send(new byte[1]);
        }

        assertThat(server.received()).isEqualTo(5L * TlsRecordLimit.MAX_RECORDS);
        assertThat(server.channel.isOpen()).isTrue();
        assertThat(closing).isEmpty();
    }

    @Test
    void incompleteRecordCountsInTheMemoryForRequests() throws Exception {
        EmbeddedTls server = connect("TLSv1.3");
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
        ServerConnection connection = new ServerConnection(port, server.channel, InetAddress.getLoopbackAddress());
        server.channel.pipeline().get(ServerTlsHandler.class).countIn(new IncompleteInput(connection, closing::add));
        ByteBuffer record = server.record(new byte[16_000]);

        server.channel.writeInbound(Unpooled.copiedBuffer(record.slice(0, 10_000)));
        assertThat(budget.used()).isGreaterThanOrEqualTo(10_000);
        server.channel.writeInbound(Unpooled.copiedBuffer(record.slice(10_000, record.remaining() - 10_000)));

        assertThat(budget.used()).isZero();
        assertThat(server.received()).isEqualTo(16_000);
        assertThat(closing).isEmpty();
        connection.closed();
    }

    /** Tests a server whose threads for handshakes are busy. */
    @Test
    void timeOfTheServersOwnComputationsIsNoFaultOfTheClient() throws Exception {
        Queue<Runnable> computations = new ArrayDeque<>();
        EmbeddedTls server = begin("TLSv1.3", computations::add);
        server.channel
                .pipeline()
                .get(ServerTlsHandler.class)
                .countIn(new IncompleteInput(new SlowReading(server.channel, Duration.ofHours(1)), closing::add));
        server.begin();
        server.channel.writeInbound(Unpooled.copiedBuffer(PART_OF_A_RECORD));
        assertThat(computations).as("the first message of the client is read").hasSize(1);

        pass(server, SlowReading.FIRST_BYTES);
        assertThat(closing).isEmpty();

        while (!computations.isEmpty()) {
            computations.remove().run();
            server.channel.runPendingTasks();
        }
        pass(server, SlowReading.FIRST_BYTES);
        assertThat(closing).as("the client does not complete its record").containsExactly(SlowReading.REASON);
    }

    private static void pass(EmbeddedTls server, Duration time) {
        server.channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        server.channel.runScheduledPendingTasks();
    }

    @Test
    void secondHandshakeOfTls12IsRefused() throws Exception {
        EmbeddedTls server = connect("TLSv1.2");
        server.send(new byte[100]);

        server.changeKeys();

        assertThat(server.channel.isOpen()).isFalse();
        assertThat(closing).singleElement().asString().contains("another TLS handshake");
        assertThat(server.received()).isEqualTo(100);
    }

    @Test
    void changesOfKeysAreLimited() throws Exception {
        EmbeddedTls server = connect("TLSv1.3");
        int changes = 0;

        while (server.channel.isOpen() && changes <= 2 * TlsRecordLimit.MAX_RECORDS) {
            server.changeKeys();
            changes++;
            if (changes % 10 == 0 && server.channel.isOpen()) {
                server.send(new byte[100]);
            }
        }

        assertThat(changes).isBetween(TlsRecordLimit.MAX_RECORDS / 2, TlsRecordLimit.MAX_RECORDS + 1);
        assertThat(closing).singleElement().asString().contains("1001 TLS records without data");
        assertThat(server.received()).isPositive();
    }

    @Test
    void changesOfAServersKeysAreLimited() throws Exception {
        EmbeddedTls client = connectToServer("TLSv1.3");
        int changes = 0;

        while (client.channel.isOpen() && changes <= 2 * TlsRecordLimit.MAX_RECORDS) {
            client.changeKeys();
            changes++;
        }

        assertThat(changes).isBetween(TlsRecordLimit.MAX_RECORDS / 2, TlsRecordLimit.MAX_RECORDS + 1);
        assertThat(closing).singleElement().asString().contains("1001 TLS records without data");
    }

    @Test
    void serverMayBeginASecondHandshakeButNoThird() throws Exception {
        EmbeddedTls client = connectToServer("TLSv1.2");

        client.changeKeys();
        client.send(new byte[100]);
        assertThat(client.received()).isEqualTo(100);
        assertThat(closing).isEmpty();
        client.changeKeys();

        assertThat(client.channel.isOpen()).isFalse();
        assertThat(closing).singleElement().asString().contains("another TLS handshake");
    }

    @Test
    void recordsAreCountedSeparatelyInEachTimeWindow() throws Exception {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
        TlsRecordLimit limit = new TlsRecordLimit(new EmbeddedChannel(), now::get, 0, closing::add);

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
        EmbeddedChannel server = new EmbeddedChannel();
        TlsRecordLimit limit = new TlsRecordLimit(server, now::get, 0, closing::add);
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);

        for (int i = 0; i < TlsRecordLimit.MAX_UNREAD; i++) {
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThatCode(limit::count).doesNotThrowAnyException();
        }

        assertThatThrownBy(limit::count).isInstanceOf(SSLException.class).hasMessageContaining("did not read");
        assertThat(closing).hasSize(1);
    }
}
