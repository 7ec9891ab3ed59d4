package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.triple.Http2Wire.Answer;

/** Tests how a server answers HTTP/2 requests from clients that use no RPC protocol. */
@Timeout(60)
class PlainHttp2RequestsTest {

    private static final String SERVICE = "/com.example.wire.GreetService/";
    private static final String JSON = "application/json";
    private static final byte[] TEXT = "\"hi\"".getBytes(UTF_8);

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private Http2Wire connect() {
        return Http2Wire.open(sides.serve(limits -> limits, settings -> {}).port());
    }

    private static void send(Http2Wire wire, Http2Headers head, int flags) {
        wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS | flags, 1, Http2Wire.block(head));
    }

    @Test
    void clientGets100ContinueIfItsBodyIsNeeded() {
        try (Http2Wire wire = connect()) {
            send(wire, Http2Wire.head(SERVICE + "echo", JSON).set("expect", "100-Continue"), 0);
            Answer answer = wire.begun(1);
            assertThat(answer.head().status()).hasToString("100");
            assertThat(answer.ended).isFalse();

            wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, 1, TEXT);

            assertThat(wire.answer(1).header(":status")).isEqualTo("200");
            assertThat(answer.text()).isEqualTo("\"hi\"");
            assertThat(answer.headers).hasSize(2);
        }
    }

    @Test
    void clientGetsNo100ContinueIfItsBodyIsNotNeeded() {
        try (Http2Wire wire = connect()) {
            send(wire, Http2Wire.head(SERVICE + "missing", JSON).set("expect", "100-continue"), 0);

            assertThat(wire.answer(1).header(":status")).isEqualTo("404");
            assertThat(wire.answer(1).headers).hasSize(1);
        }
    }

    @Test
    void clientThatHasSentItsBodyGetsNo100Continue() {
        try (Http2Wire wire = connect()) {
            send(wire, Http2Wire.head(SERVICE + "missing", JSON).set("expect", "100-continue"), Http2Wire.END_STREAM);

            assertThat(wire.answer(1).headers).hasSize(1);
        }
    }

    /** The first content type is refused in plain text, the second in JSON. */
    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", JSON})
    void answerToHeadHasNoBody(String contentType) {
        try (Http2Wire wire = connect()) {
            send(wire, Http2Wire.head(SERVICE + "echo", contentType).method("HEAD"), Http2Wire.END_STREAM);

            Answer answer = wire.answer(1);
            assertThat(answer.header(":status")).isEqualTo("405");
            assertThat(Integer.parseInt(answer.header("content-length"))).isPositive();
            assertThat(answer.data.size()).isZero();
        }
    }
}
