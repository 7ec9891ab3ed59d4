package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Tests reads that end a few bytes after the beginning of a frame. */
@Timeout(60)
class FewBytesTest {

    /** The maximum size of the buffer for the few bytes. */
    private static final int SMALL = 8 << 10;

    private static EmbeddedServer server() {
        return new EmbeddedServer(
                new AllProtocols().ofServer(),
                exports -> exports.export(ServiceExport.of(GreetService.class, InstantServices.greet())));
    }

    private static byte[] whole(String protocol) {
        return switch (protocol) {
            case "dubbo" -> RawFrame.heartbeat(1).bytes();
            case "http" -> "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(ISO_8859_1);
            default -> frame(0x77, 1_000); // the type 0x77 is unknown, so the frame has no effect
        };
    }

    private static byte[] frame(int type, int bytes) {
        return ByteBuffer.allocate(9 + bytes).putInt(bytes << 8 | type).array();
    }

    private static byte[] first(String protocol) {
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        if (protocol.equals("tri")) {
            first.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
            first.writeBytes(frame(4, 0));
        }
        first.writeBytes(whole(protocol));
        return first.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "http", "tri"})
    void beginningOfAFrameDoesNotKeepTheBufferOfALargeRead(String protocol) {
        byte[] whole = whole(protocol);
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        while (read.size() < 16_000) {
            read.writeBytes(whole);
        }
        int few = 3;
        read.write(whole, 0, few);
        try (EmbeddedServer server = server();
                EmbeddedServer.Peer peer = server.connect()) {
            byte[] first = first(protocol);
            peer.send(first, 0, first.length);
            peer.send(read.toByteArray(), 0, read.size());
            peer.run();
            int answers = peer.received().length;

            assertThat(peer.bufferBytes()).isLessThan(SMALL);
            assertThat(peer.requestBytes()).isLessThan(SMALL);

            peer.send(whole, few, whole.length);
            peer.run();
            assertThat(peer.isOpen()).isTrue();
            assertThat(peer.received().length > 0)
                    .as("the rest completes the frame")
                    .isEqualTo(answers > 0 && !protocol.equals("tri"));
        }
    }

    @Test
    void beginningOfHttp2DoesNotKeepTheBufferOfAnUpgradeRequest() {
        String body = '"' + "x".repeat(9_000) + '"';
        String request = "POST /com.example.wire.GreetService/echo HTTP/1.1\r\nHost: x\r\n"
                + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
                + "Content-Length: " + body.length() + "\r\n\r\n" + body;
        byte[] read = (request + "PRI").getBytes(ISO_8859_1);
        byte[] rest = " * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
        try (EmbeddedServer server = server();
                EmbeddedServer.Peer peer = server.connect()) {
            peer.send(read, 0, read.length);
            peer.run();
            peer.received();
            assertThat(peer.bufferBytes()).isLessThan(SMALL);

            peer.send(rest, 0, rest.length);
            peer.run();
            assertThat(peer.isOpen()).isTrue();
        }
    }

    @Test
    void beginningOfATlsRecordDoesNotKeepTheBufferOfALargeRead() throws Exception {
        TestAuthority authority = new TestAuthority("authority");
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, authority.trust().getTrustManagers(), null);
        SSLEngine client = trusting.createSSLEngine();
        client.setUseClientMode(true);
        Tls tls = Tls.named("bundle 'server'")
                .withKeys(authority.issue("server", "127.0.0.1").keys());
        try (EmbeddedTls server = new EmbeddedTls(client)) {
            server.add(TlsContext.ofServer(() -> tls).newHandler(server.channel, Runnable::run, closing -> {}));
            server.connect("TLSv1.3");
            ByteBuffer whole = server.record(new byte[10_000]);
            ByteBuffer next = server.record(new byte[100]);
            ByteBuf read = Unpooled.copiedBuffer(whole, next.slice(0, 3));

            server.channel.writeInbound(read);
            assertThat(server.received()).isEqualTo(10_000);
            assertThat(read.refCnt()).as("references to the buffer of the read").isZero();

            server.channel.writeInbound(Unpooled.copiedBuffer(next.slice(3, next.remaining() - 3)));
            assertThat(server.received()).isEqualTo(10_100);
        }
    }

    @Test
    void onlyFewBytesAreTakenOutOfLargeBuffers() {
        for (int[] bytesAndCapacity : List.of(new int[] {0, 9_000}, new int[] {1, 8_192}, new int[] {4_096, 9_000})) {
            ByteBuf buffer = Unpooled.buffer(bytesAndCapacity[1]).writeZero(bytesAndCapacity[0]);
            assertThat(FewBytes.takenFrom(buffer)).isNull();
            assertThat(buffer.readableBytes()).isEqualTo(bytesAndCapacity[0]);
            buffer.release();
        }
        ByteBuf large = Unpooled.buffer(9_000).writeBytes(new byte[] {1, 2, 3}).skipBytes(1);

        ByteBuf few = FewBytes.takenFrom(large);

        assertThat(few).isEqualTo(Unpooled.wrappedBuffer(new byte[] {2, 3}));
        assertThat(large.isReadable()).isFalse();
        large.release();
        few.release();
    }
}
