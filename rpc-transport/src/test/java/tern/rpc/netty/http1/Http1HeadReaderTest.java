package tern.rpc.netty.http1;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Headers;
import java.lang.management.ManagementFactory;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests request targets, and headers that are completely or partly equal to earlier headers on the connection. */
class Http1HeadReaderTest {

    private static final String FIRST = "POST /a/b HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\nContent-Length: 4\r\n\r\n";

    private final Http1HeadReader reader = new Http1HeadReader();
    private final ByteBuf in = Unpooled.buffer();

    @Test
    void aHeadThatRepeatsTheLastIsReadWithoutCopies() {
        Http2Headers first = read(FIRST).headers();
        Http2Headers second = read(FIRST).headers();

        assertThat(second).isEqualTo(first);
        assertThat(second.path()).isSameAs(first.path());
        assertThat(second.get("b")).isSameAs(first.get("b"));
    }

    @Test
    void differentHeadIsDecodedAgain() {
        read(FIRST);

        Http1Head other = read("POST /a/b HTTP/1.1\r\nHost: x\r\nA: 12\r\nContent-Length: 40\r\n\r\n");

        assertThat(other.headers().get("a")).hasToString("12");
        assertThat(other.headers().contains("b")).isFalse();
        assertThat(other.bodyBytes()).isEqualTo(40);
        assertThat(read(FIRST.replace("/a/b", "/a/bc")).headers().path()).hasToString("/a/bc");
        assertThat(read(FIRST.replace("/a/b", "/a")).headers().path()).hasToString("/a");
    }

    @Test
    void aRepeatedHeadMayComeByteByByte() {
        read(FIRST);
        for (byte one : FIRST.substring(0, FIRST.length() - 1).getBytes(ISO_8859_1)) {
            in.writeByte(one);

            assertThat(reader.read(in)).isNull();
        }
        in.writeByte('\n');

        assertThat(Objects.requireNonNull(reader.read(in)).headers().get("b")).hasToString("2");
    }

    @Test
    void aRepeatedLineDoesNotMakeAHeadLessStrict() {
        read(FIRST);
        in.writeBytes(FIRST.replace("B: 2", "Content-Length: 4").getBytes(ISO_8859_1));

        assertThatThrownBy(() -> reader.read(in))
                .isInstanceOf(Http1Violation.class)
                .hasMessageContaining("twice");
    }

    @Test
    void aRepeatedLineEndsAsEverInCrLf() {
        read(FIRST);
        in.writeBytes(FIRST.replace("A: 1\r\n", "A: 1\n").getBytes(ISO_8859_1));

        assertThatThrownBy(() -> reader.read(in)).isInstanceOf(Http1Violation.class);
    }

    /**
     * Tests request targets in absolute form (complete URIs), which clients send to proxies (RFC 9112, 3.2.2 and
     * 3.2.4).
     */
    @ParameterizedTest
    @CsvSource({
        "POST http://shop:80/a/b?c=/d,   shop:80,   /a/b?c=/d",
        "GET  HTTPS://[::1]/a,           [::1],     /a",
        "GET  http://shop,               shop,      /",
        "GET  http://shop?a=1,           shop,      /?a=1",
        "OPTIONS http://shop:80,         shop:80,   *",
        "OPTIONS *,                      other,     *"
    })
    void hostInTheTargetTakesPrecedenceOverTheHeader(String request, String host, String path) {
        String head = request.replaceAll(" +", " ") + " HTTP/1.1\r\nHost: other\r\n\r\n";

        for (int repeated = 0; repeated < 2; repeated++) {
            Http2Headers headers = read(head).headers();

            assertThat(headers.authority()).hasToString(host);
            assertThat(headers.path()).hasToString(path);
        }
    }

    @Test
    void requestAfterATargetWithAHostHasTheHostOfItsHeader() {
        read("GET http://shop/a HTTP/1.1\r\nHost: other\r\n\r\n");

        assertThat(read("GET /a HTTP/1.1\r\nHost: other\r\n\r\n").headers().authority())
                .hasToString("other");
    }

    /**
     * Tests that the evaluation of many Connection fields does not copy the names from all earlier fields again for
     * each field. The copies would take 20 MB.
     */
    @Test
    void manyConnectionFieldsCostLittle() {
        StringBuilder head = new StringBuilder("GET / HTTP/1.1\r\nHost: x\r\nConnection: close");
        for (int i = 0; i < 1_000; i++) {
            head.append(',').append(Integer.toString(i, 36));
        }
        head.append("\r\n").append("Connection: a\r\n".repeat(110)).append("\r\n");
        in.writeBytes(head.toString().getBytes(ISO_8859_1));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        long before = threads.getCurrentThreadAllocatedBytes();
        Http1Head read = reader.read(in);
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(Objects.requireNonNull(read).keepsAlive()).isFalse();
        assertThat(bytes).isLessThan(2 << 20);
    }

    private Http1Head read(String head) {
        in.writeBytes(head.getBytes(ISO_8859_1));
        Http1Head read = Objects.requireNonNull(reader.read(in));
        assertThat(in.isReadable()).isFalse();
        return read;
    }
}
