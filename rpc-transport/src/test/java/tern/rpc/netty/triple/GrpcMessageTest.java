package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrpcMessageTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "no such item|no such item",
                "a b+c%中|a b%2Bc%25%E4%B8%AD",
                "é|%C3%A9",
                "😀|%F0%9F%98%80",
                "'line\nfeed'|line%0Afeed",
                "~|~"
            })
    void encodedTextIsDecoded(String text, String encoded) {
        assertThat(GrpcMessage.encode(text)).isEqualTo(encoded);
        assertThat(GrpcMessage.decode(encoded)).isEqualTo(text);
    }

    @Test
    void loneSurrogateDoesNotFail() {
        assertThat(GrpcMessage.encode("\uD83D")).isEqualTo("%3F");
    }

    @Test
    void textOfAKibibyteIsWhole() {
        assertThat(GrpcMessage.encode("x".repeat(1_024))).hasSize(1_024);
        assertThat(GrpcMessage.encode("x".repeat(1_025))).hasSize(1_024);
    }

    @Test
    void characterIsNeverCutInTwo() {
        String encoded = GrpcMessage.encode("xx" + "中".repeat(1_000));

        assertThat(encoded).hasSizeLessThanOrEqualTo(1_024).hasSizeGreaterThan(1_015);
        assertThat(GrpcMessage.decode(encoded)).isEqualTo("xx" + "中".repeat((encoded.length() - 2) / 9));
    }

    @ParameterizedTest
    @CsvSource({"plain 100% bad, plain 100% bad", "%, %", "%4, %4", "%zz%41, %zzA", "a+b, a+b", "%2b, +"})
    void invalidEscapesAreKept(String encoded, String text) {
        assertThat(GrpcMessage.decode(encoded)).isEqualTo(text);
    }

    @Test
    void rawBytesAreUtf8OrElseLatin1() {
        AsciiString utf8 = new AsciiString("é中".getBytes(StandardCharsets.UTF_8), false);
        AsciiString latin1 = new AsciiString("strm é fail".getBytes(StandardCharsets.ISO_8859_1), false);

        assertThat(GrpcMessage.decode(utf8)).isEqualTo("é中");
        assertThat(GrpcMessage.decode(latin1)).isEqualTo("strm é fail");
    }
}
