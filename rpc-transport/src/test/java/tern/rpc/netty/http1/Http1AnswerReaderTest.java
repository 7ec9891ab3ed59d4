package tern.rpc.netty.http1;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests answers on one connection: answers in several pieces, consecutive answers, and invalid answers. */
class Http1AnswerReaderTest {

    private static final int MAX_BYTES = 1_000;
    private static final String SIZED = "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 3\r\n\r\nabc";
    private static final String CHUNKED =
            "HTTP/1.1 503\r\nb:  2 \r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nT: 1\r\n\r\n";
    private static final String EMPTY = "HTTP/1.1 204 No Content\r\nConnection: x, Close\r\n\r\n";

    private final Http1AnswerReader reader = new Http1AnswerReader(MAX_BYTES, bytes -> null);
    private final ByteBuf in = Unpooled.buffer();

    private Http1Answer next() {
        return Objects.requireNonNull(reader.read(in));
    }

    private static String body(Http1Answer answer) {
        return new String(answer.body(), 0, answer.bodyBytes(), ISO_8859_1);
    }

    @Test
    void consecutiveAnswersAreSeparatedAtAnySplit() {
        String all = SIZED + CHUNKED + SIZED.replace("abc", "xyz") + EMPTY;
        for (int cut = 0; cut <= all.length(); cut++) {
            Http1AnswerReader cutReader = new Http1AnswerReader(MAX_BYTES, bytes -> null);
            StringBuilder seen = new StringBuilder();
            ByteBuf bytes = Unpooled.buffer();
            for (String piece : new String[] {all.substring(0, cut), all.substring(cut)}) {
                bytes.writeBytes(piece.getBytes(ISO_8859_1));
                for (Http1Answer answer = cutReader.read(bytes); answer != null; answer = cutReader.read(bytes)) {
                    seen.append(answer.status())
                            .append(body(answer))
                            .append(answer.fields())
                            .append(' ');
                }
            }
            assertThat(seen).as("cut at %s", cut).hasToString("200abc[a=1] 503abc[b=2] 200xyz[a=1] 204[] ");
            assertThat(cutReader.keepsAlive()).isFalse();
        }
    }

    @Test
    void headThatRepeatsTheLastIsReadWithoutCopies() {
        in.writeBytes((SIZED + SIZED).getBytes(ISO_8859_1));

        Http1Answer first = next();
        Http1Answer second = next();

        assertThat(second.fields().get(0)).isSameAs(first.fields().get(0));
        assertThat(second.field(AsciiString.of("a"))).isEqualTo("1");
        assertThat(reader.keepsAlive()).isTrue();
    }

    /** Old proxies send an error without a length, and close the connection after its body. */
    @Test
    void errorWithoutALengthEndsWithItsHeaders() {
        in.writeBytes("HTTP/1.0 503 Busy\r\nConnection: keep-alive\r\n\r\n<html>".getBytes(ISO_8859_1));

        Http1Answer answer = next();

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.bodyBytes()).isZero();
        assertThat(reader.keepsAlive()).isFalse();
    }

    @Test
    void roomForABodyIsMadeAsItComes() {
        List<Integer> rooms = new ArrayList<>();
        Http1AnswerReader large = new Http1AnswerReader(8 << 20, bytes -> {
            rooms.add(bytes);
            return null;
        });
        in.writeBytes("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\nabc".getBytes(ISO_8859_1));
        assertThat(large.read(in)).isNull();
        assertThat(large.missingBytes()).isEqualTo(299_997);
        assertThat(rooms).as("64 KiB are enough for the first bytes").isEmpty();

        in.writeBytes(new byte[99_997]);
        assertThat(large.read(in)).isNull();
        assertThat(rooms).containsExactly(128 << 10);
        in.writeBytes(new byte[200_000]);

        assertThat(large.read(in)).isNotNull();
        assertThat(rooms).containsExactly(128 << 10, 300_000, 0);
    }

    @Test
    void bodyIsRefusedIfItsRoomIsRefused() {
        Http1AnswerReader large =
                new Http1AnswerReader(8 << 20, bytes -> bytes > 64 << 10 ? "no memory for " + bytes : null);
        in.writeBytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n".getBytes(ISO_8859_1));
        in.writeBytes(new byte[64 << 10]);
        assertThat(large.read(in)).isNull();
        in.writeBytes(new byte[1]);

        assertThatThrownBy(() -> large.read(in))
                .isInstanceOf(Http1Violation.class)
                .hasMessage("its answer is not read completely: no memory for 131072");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h", "HTTP/2", "HTTP:", "\0\0\0"})
    void beginningOfAnotherProtocolIsRefusedBeforeItsLineEnds(String bytes) {
        in.writeBytes(bytes.getBytes(ISO_8859_1));

        assertThatThrownBy(() -> reader.read(in))
                .isInstanceOf(Http1Violation.class)
                .hasMessage("the status line does not begin with HTTP/1.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP/2 200 OK~ | status line",
                "HTTP/1.1  200 OK~ | three digits",
                "HTTP/1.1 2000 OK~ | status line",
                "HTTP/1.1 099 OK~ | less than 100",
                "HTTP/1.1 200 OK\u0001~ | status line",
                "HTTP/1.1 101 Up~~ | switches to a protocol",
                "HTTP/1.1 200 OK~ x: y~ | name and a colon",
                "HTTP/1.1 200 OK~x : y~ | name and a colon",
                "HTTP/1.1 200 OK~x: \u0000~ | control characters",
                "HTTP/1.1 200 OK~content-length: 3~content-length: 3~~ | twice",
                "HTTP/1.1 200 OK~content-length: 3, 3~~ | not a number",
                "HTTP/1.1 200 OK~content-length: +3~~ | not a number",
                "HTTP/1.1 200 OK~content-length:~~ | digits",
                "HTTP/1.1 200 OK~content-length: 9999999999999999999~~ | digits",
                "HTTP/1.1 200 OK~content-length: 1001~~ | more than 1000 bytes",
                "HTTP/1.1 200 OK~content-length: 3~transfer-encoding: chunked~~ | contradict",
                "HTTP/1.1 200 OK~transfer-encoding: gzip, chunked~~ | may only be 'chunked'",
                "HTTP/1.0 200 OK~transfer-encoding: chunked~~ | may only be 'chunked'",
                "HTTP/1.1 200 OK~transfer-encoding: chunked~~x~ | hexadecimal",
                "HTTP/1.1 200 OK~~ | neither a length nor chunks",
            })
    void ambiguousAnswerIsRefused(String answer, String message) {
        in.writeBytes(answer.replace("~", "\r\n").getBytes(ISO_8859_1));

        assertThatThrownBy(() -> reader.read(in))
                .isInstanceOf(Http1Violation.class)
                .hasMessageContaining(message);
    }

    @Test
    void headThatNeverEndsIsRefusedAtItsLimit() {
        in.writeBytes(SIZED.getBytes(ISO_8859_1));
        next();
        in.writeBytes("HTTP/1.1 200 OK\r\n".getBytes(ISO_8859_1));

        assertThatThrownBy(() -> {
                    for (int i = 0; i < 40_000; i++) {
                        in.writeBytes("A: 1\r\n".getBytes(ISO_8859_1));
                        reader.read(in);
                    }
                })
                .isInstanceOf(Http1Violation.class)
                .hasMessageContaining("32768");
    }
}
