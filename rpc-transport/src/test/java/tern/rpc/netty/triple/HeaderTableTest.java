package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Decodes Tern's header blocks with Netty's decoder, which maintains the receiver's dynamic table. */
class HeaderTableTest {

    private final HeaderTable table = new HeaderTable();
    private final DefaultHttp2HeadersDecoder peer = new DefaultHttp2HeadersDecoder(false, false, 64 << 10);

    @Test
    void fieldsArriveAsTheyWere() throws Exception {
        for (int i = 0; i < 5; i++) {
            Http2Headers sent = request("/a.Service/call", "n" + i);

            assertThat(decoded(encoded(sent))).isEqualTo(sent);
        }
    }

    @Test
    void repeatedFieldsTakeOneOrTwoBytes() throws Exception {
        encoded(request("/a.Service/call", "1"));
        ByteBuf second = encoded(request("/a.Service/call", "2"));
        ByteBuf third = encoded(request("/a.Service/call", "3"));

        assertThat(second.readableBytes()).isGreaterThan(60);
        assertThat(third.readableBytes()).isLessThan(16); // the block still contains the timeout's value as a literal
    }

    @Test
    void varyingFieldsEvictNothing() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            Http2Headers sent = request("/a.Service/call", String.valueOf(i)).add("traceparent", "00-" + i + "-01");
            ByteBuf block = encoded(sent);

            assertThat(block.readableBytes()).isLessThan(i < 2 ? 400 : 48);
            assertThat(decoded(block)).isEqualTo(sent);
        }
    }

    @Test
    void morePathsThanTheTableHoldsAllArrive() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 30_000; i++) { // the paths together exceed the table, so it becomes full several times
            Http2Headers sent = request("/a.long.name.of.a.Service/call" + random.nextInt(200), "1");

            assertThat(decoded(encoded(sent))).isEqualTo(sent);
        }
    }

    @Test
    void tableStaysWithinTheSizeThatThePeerAllows() throws Exception {
        long[] sizes = {4_096, 0, 100, 65_536, 4_096, 33, 200};
        for (int i = 0; i < 70; i++) {
            if (i % 10 == 0) {
                peer.maxHeaderTableSize(sizes[i / 10]);
                table.maxHeaderTableSize(sizes[i / 10]);
            }
            Http2Headers sent = request("/a.Service/call" + i % 3, "1");

            assertThat(decoded(encoded(sent))).isEqualTo(sent);
        }
    }

    @Test
    void moreThanThePeerTakesIsRefusedBeforeItIsWritten() throws Exception {
        table.maxHeaderListSize(100);
        ByteBuf out = Unpooled.buffer();

        assertThatThrownBy(() -> table.encodeHeaders(1, request("/a.Service/call", "1"), out))
                .isInstanceOf(Http2Exception.class);
        assertThat(out.isReadable()).isFalse();
    }

    private static Http2Headers request(String path, String timeout) {
        return new DefaultHttp2Headers(false)
                .method("POST")
                .path(path)
                .scheme("http")
                .authority("localhost:1")
                .add("content-type", "application/grpc+proto")
                .add("te", "trailers")
                .add("long", "x".repeat(200))
                .add(GrpcHeaders.TIMEOUT, new AsciiString(timeout + "m"));
    }

    private ByteBuf encoded(Http2Headers headers) throws Http2Exception {
        ByteBuf out = Unpooled.buffer();
        table.encodeHeaders(1, headers, out);
        return out;
    }

    private Http2Headers decoded(ByteBuf block) throws Http2Exception {
        Http2Headers read = peer.decodeHeaders(1, block);
        assertThat(block.isReadable()).isFalse();
        return read;
    }
}
