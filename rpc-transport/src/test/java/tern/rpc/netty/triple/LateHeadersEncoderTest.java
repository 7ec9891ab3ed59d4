package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LateHeadersEncoderTest {

    private static final long[] TABLE_SIZES = {0, 64, 1_024, 4_096, 8_192, 65_536};

    @Test
    void bytesEqualTheBytesOfNettysEncoderWithASmallTable() throws Exception {
        Random random = new Random(3);
        for (int connection = 0; connection < 500; connection++) {
            Http2HeadersEncoder ours = new LateHeadersEncoder();
            Http2HeadersEncoder netty = new DefaultHttp2HeadersEncoder();
            for (int step = 0; step < 30; step++) {
                if (random.nextInt(5) == 0) {
                    long size = TABLE_SIZES[random.nextInt(TABLE_SIZES.length)];
                    ours.configuration().maxHeaderTableSize(size);
                    netty.configuration().maxHeaderTableSize(Math.min(size, 4_096));
                }
                if (random.nextInt(10) == 0) {
                    long size = random.nextInt(300);
                    ours.configuration().maxHeaderListSize(size);
                    netty.configuration().maxHeaderListSize(size);
                }
                assertThat(ours.configuration().maxHeaderTableSize())
                        .isEqualTo(netty.configuration().maxHeaderTableSize());
                assertThat(ours.configuration().maxHeaderListSize())
                        .isEqualTo(netty.configuration().maxHeaderListSize());
                if (random.nextInt(3) != 0) {
                    Http2Headers headers = anyHeaders(random);
                    assertThat(encoded(ours, headers)).isEqualTo(encoded(netty, headers));
                }
            }
        }
    }

    @Test
    void onlyTheBlockAfterAChangeOfTheTableSizeMustBeEncodedByThisClass() throws Exception {
        LateHeadersEncoder encoder = new LateHeadersEncoder();
        encoder.maxHeaderTableSize(4_096);
        assertThat(encoder.mustEncodeNext()).isFalse();

        encoder.maxHeaderTableSize(0);
        encoder.maxHeaderTableSize(65_536);
        assertThat(encoder.mustEncodeNext()).isTrue();

        encoded(encoder, numbered(0));
        assertThat(encoder.mustEncodeNext()).isFalse();
        encoder.maxHeaderTableSize(4_096);
        assertThat(encoder.mustEncodeNext()).isFalse();
    }

    @Test
    void keepsFewFieldsAlthoughTheClientAllowsALargeTable() throws Exception {
        Http2HeadersEncoder encoder = new LateHeadersEncoder();
        encoder.configuration().maxHeaderTableSize(0xFFFF_FFFFL);
        int first = encoded(encoder, numbered(0)).length();
        for (int i = 1; i < 1_000; i++) {
            encoded(encoder, numbered(i));
        }

        assertThat(encoded(encoder, numbered(0))).hasSizeGreaterThan(first / 2);
    }

    private static Http2Headers numbered(int number) {
        return new DefaultHttp2Headers().status("200").add("n", number + "v".repeat(50));
    }

    private static Http2Headers anyHeaders(Random random) {
        Http2Headers headers = new DefaultHttp2Headers().status("200");
        for (int fields = random.nextInt(4); fields > 0; fields--) {
            headers.add("n" + random.nextInt(4), "v".repeat(1 + random.nextInt(30)));
        }
        return headers;
    }

    private static String encoded(Http2HeadersEncoder encoder, Http2Headers headers) {
        ByteBuf out = Unpooled.buffer();
        try {
            encoder.encodeHeaders(1, headers, out);
        } catch (Http2Exception e) {
            return String.valueOf(e.getMessage());
        }
        return ByteBufUtil.hexDump(out);
    }
}
