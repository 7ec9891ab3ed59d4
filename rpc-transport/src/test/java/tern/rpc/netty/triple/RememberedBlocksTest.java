package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Compares the decoded headers with the result of Netty's decoder, which decodes every block. */
class RememberedBlocksTest {

    private static final int LIST_BYTES = 32 << 10;
    private static final int FIRST_OF_TABLE = 62;

    private final Counted decoder = new Counted();
    private final RememberedBlocks blocks = new RememberedBlocks(() -> decoder, LIST_BYTES);

    /** A subclass of Netty's decoder that counts the decoded blocks. */
    private static final class Counted implements Http2HeadersDecoder {

        private final Http2HeadersDecoder netty = new DefaultHttp2HeadersDecoder(true, LIST_BYTES);
        private int read;

        @Override
        public Http2Headers decodeHeaders(int streamId, ByteBuf block) throws Http2Exception {
            read++;
            return netty.decodeHeaders(streamId, block);
        }

        @Override
        public Configuration configuration() {
            return netty.configuration();
        }
    }

    @Test
    void blockIsReadTwiceAndThenKnown() throws Exception {
        ByteBuf block = block(0x83, 0x86).writeBytes(literal(0x00, "a", "b"));

        for (int i = 0; i < 10; i++) {
            assertThat(fields(read(block))).containsExactly(":method=POST", ":scheme=http", "a=b");
        }
        assertThat(decoder.read).isEqualTo(2);
    }

    @Test
    void decoderIsMadeForTheFirstBlock() throws Exception {
        AtomicInteger made = new AtomicInteger();
        RememberedBlocks late = new RememberedBlocks(
                () -> {
                    made.incrementAndGet();
                    return decoder;
                },
                LIST_BYTES);

        late.maxHeaderListSize(LIST_BYTES, Http2CodecUtil.calculateMaxHeaderListSizeGoAway(LIST_BYTES));
        assertThat(made).hasValue(0);

        late.decodeHeaders(1, block(0x83));
        assertThat(made).hasValue(1);
    }

    @Test
    void oneBlockForEachPlaceIsRemembered() throws Exception {
        List<ByteBuf> methods = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            methods.add(block(0x83).writeBytes(literal(0, "path", "method" + i)));
        }
        for (int i = 0; i < 40; i++) {
            for (ByteBuf method : methods) {
                read(method);
            }
        }

        int before = decoder.read;
        for (ByteBuf method : methods) {
            read(method);
        }
        // a few blocks collide in the cache, so they are decoded each time
        assertThat(decoder.read - before).isLessThan(8);
    }

    @Test
    void rememberedHeadersAreImmutable() throws Exception {
        readTwice(block(0x83));

        Http2Headers known = read(block(0x83));

        assertThatThrownBy(() -> known.set("a", "b")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> known.remove(":method")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void addedFieldChangesTheMeaningOfAnIndex() throws Exception {
        read(block().writeBytes(literal(Http2Frames.REMEMBERED, "a", "1")));
        readTwice(block(Http2Frames.INDEXED | FIRST_OF_TABLE));
        assertThat(fields(read(block(Http2Frames.INDEXED | FIRST_OF_TABLE)))).containsExactly("a=1");

        read(block().writeBytes(literal(Http2Frames.REMEMBERED, "a", "2")));

        assertThat(fields(read(block(Http2Frames.INDEXED | FIRST_OF_TABLE)))).containsExactly("a=2");
    }

    @Test
    void fieldThatIsAddedByALongBlockDoesSoToo() throws Exception {
        read(block().writeBytes(literal(Http2Frames.REMEMBERED, "a", "1")));
        readTwice(block(Http2Frames.INDEXED | FIRST_OF_TABLE));

        read(block().writeBytes(literal(Http2Frames.REMEMBERED, "a", "2"))
                .writeBytes(literal(0, "b", "x".repeat(120)))
                .writeBytes(literal(0, "c", "x".repeat(120))));

        assertThat(fields(read(block(Http2Frames.INDEXED | FIRST_OF_TABLE)))).containsExactly("a=2");
    }

    @Test
    void tableThatBecomesSmallerHasNoFieldAtTheIndex() throws Exception {
        read(block().writeBytes(literal(Http2Frames.REMEMBERED, "a", "1")));
        readTwice(block(Http2Frames.INDEXED | FIRST_OF_TABLE));

        read(block(Http2Frames.TABLE_SIZE, 0x83));

        assertThatThrownBy(() -> read(block(Http2Frames.INDEXED | FIRST_OF_TABLE)))
                .isInstanceOf(Http2Exception.class);
    }

    @Test
    void requiredSizeUpdateIsCheckedForRememberedBlocksToo() throws Exception {
        readTwice(block(0x83));

        blocks.configuration().maxHeaderTableSize(0);

        assertThatThrownBy(() -> read(block(0x83))).isInstanceOf(Http2Exception.class);
    }

    @Test
    void lowerLimitOfAllFieldsHoldsForBlocksThatWereKnown() throws Exception {
        readTwice(block(0x83, 0x86, 0x84));

        blocks.configuration().maxHeaderListSize(50, 60);

        assertThatThrownBy(() -> read(block(0x83, 0x86, 0x84))).isInstanceOf(Http2Exception.class);
    }

    @Test
    void contentLengthIsNotKeptBecauseTheReaderWritesItBack() throws Exception {
        ByteBuf block = block(0x83).writeBytes(literal(0x00, "content-length", "5"));

        for (int i = 0; i < 5; i++) {
            read(block).setLong("content-length", 5);
        }

        assertThat(decoder.read).isEqualTo(5);
    }

    @Test
    void neverIndexedTextIsNotKept() throws Exception {
        ByteBuf secret = block(0x83).writeBytes(literal(0x10, "authorization", "Bearer x"));

        for (int i = 0; i < 5; i++) {
            read(secret);
        }

        assertThat(decoder.read).isEqualTo(5);
    }

    @Test
    void longBlocksAndBlocksOfManyFieldsAreNotKept() throws Exception {
        ByteBuf large = block().writeBytes(literal(0, "a", "x".repeat(120))).writeBytes(literal(0, "b", "x"));
        ByteBuf many = block();
        for (int i = 0; i < 40; i++) {
            many.writeBytes(literal(0, "a", ""));
        }

        for (int i = 0; i < 5; i++) {
            read(large);
            read(many);
        }

        assertThat(decoder.read).isEqualTo(10);
    }

    @Test
    void requestsOfOurOwnClientAreKnown() throws Exception {
        HeaderTable table = new HeaderTable();
        for (int i = 0; i < 100; i++) {
            ByteBuf block = Unpooled.buffer();
            Http2Headers sent = ReadOnlyHttp2Headers.clientHeaders(
                    true,
                    AsciiString.of("POST"),
                    AsciiString.of("/a.Service/call"),
                    AsciiString.of("http"),
                    AsciiString.of("localhost:1"),
                    GrpcHeaders.CONTENT_TYPE,
                    GrpcHeaders.GRPC_PROTO,
                    GrpcHeaders.TIMEOUT,
                    AsciiString.of("2999000u"));
            table.encodeHeaders(1, sent, block);

            assertThat(fields(read(block))).isEqualTo(fields(sent));
        }
        assertThat(decoder.read).isLessThan(6);
    }

    /**
     * Uses only a few different fields and names, so that blocks are repeated. An invalid block ends the connection.
     */
    @Test
    void randomBlocksDecodeAsByNetty() {
        Random random = new Random(11);
        int broken = 0;
        int known = 0;
        for (int connection = 0; connection < 3_000; connection++) {
            Counted counted = new Counted();
            RememberedBlocks ours = new RememberedBlocks(() -> counted, LIST_BYTES);
            Http2HeadersDecoder netty = new DefaultHttp2HeadersDecoder(true, LIST_BYTES);
            List<ByteBuf> sent = new ArrayList<>();
            int blocksSent = 0;
            String expected = "";
            while (blocksSent < 60 && !expected.startsWith("CONNECTION")) {
                ByteBuf block = sent.isEmpty() || random.nextInt(8) == 0
                        ? anyBlock(random)
                        : sent.get(random.nextInt(Math.min(4, sent.size())));
                sent.add(block);
                blocksSent++;
                if (random.nextInt(200) == 0) {
                    long size = random.nextInt(3) * 64L;
                    assertThat(resize(ours, size)).isEqualTo(resize(netty, size));
                }
                expected = told(netty, block.duplicate());
                ByteBuf read = block.duplicate();
                assertThat(told(ours, read)).isEqualTo(expected);
            }
            broken += expected.startsWith("CONNECTION") ? 1 : 0;
            known += blocksSent - counted.read;
        }
        // with fewer invalid header blocks, the test would not cover enough cases
        assertThat(broken).isGreaterThan(100);
        assertThat(known).isGreaterThan(5_000);
    }

    private static ByteBuf anyBlock(Random random) {
        ByteBuf block = Unpooled.buffer();
        for (int fields = random.nextInt(5); fields >= 0; fields--) {
            switch (random.nextInt(24)) {
                case 0 -> block.writeBytes(literal(Http2Frames.REMEMBERED, name(random), value(random)));
                case 1 -> Http2Frames.number(block, Http2Frames.REMEMBERED, 6, FIRST_OF_TABLE + random.nextInt(3));
                case 2 -> Http2Frames.number(block, Http2Frames.TABLE_SIZE, 5, random.nextInt(100));
                case 3 -> block.writeByte(random.nextInt(256));
                case 4, 5, 6 -> block.writeBytes(literal(random.nextInt(2) * 0x10, name(random), value(random)));
                case 7, 8 -> {
                    Http2Frames.number(block, 0, 4, random.nextInt(FIRST_OF_TABLE + 1));
                    Http2Frames.text(block, AsciiString.of(value(random)));
                }
                default ->
                    Http2Frames.number(
                            block,
                            Http2Frames.INDEXED,
                            7,
                            random.nextInt(6) == 0 ? FIRST_OF_TABLE + random.nextInt(3) : 1 + random.nextInt(61));
            }
        }
        return random.nextInt(80) == 0 ? block.slice(0, random.nextInt(block.readableBytes() + 1)) : block;
    }

    private static String name(Random random) {
        return random.nextInt(20) == 0 ? ":path" : "n" + random.nextInt(3);
    }

    private static String value(Random random) {
        return random.nextInt(20) == 0 ? "x".repeat(random.nextInt(150)) : "v" + random.nextInt(3);
    }

    private static String told(Http2HeadersDecoder decoder, ByteBuf block) {
        try {
            List<String> fields = fields(decoder.decodeHeaders(1, block));
            return block.isReadable() ? "bytes are left" : fields.toString();
        } catch (Http2Exception e) {
            return (Http2Exception.isStreamError(e) ? "STREAM " : "CONNECTION ") + e.getMessage();
        } catch (RuntimeException e) {
            return "CONNECTION " + e;
        }
    }

    private static String resize(Http2HeadersDecoder decoder, long size) {
        try {
            decoder.configuration().maxHeaderTableSize(size);
            return "done";
        } catch (Http2Exception e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void readTwice(ByteBuf block) throws Http2Exception {
        read(block);
        read(block);
    }

    private Http2Headers read(ByteBuf block) throws Http2Exception {
        ByteBuf read = block.duplicate();
        Http2Headers headers = blocks.decodeHeaders(1, read);
        assertThat(read.isReadable()).isFalse();
        return headers;
    }

    private static List<String> fields(Http2Headers headers) {
        List<String> fields = new ArrayList<>();
        headers.forEach(field -> fields.add(field.getKey() + "=" + field.getValue()));
        return fields;
    }

    private static ByteBuf block(int... bytes) {
        ByteBuf block = Unpooled.buffer();
        for (int one : bytes) {
            block.writeByte(one);
        }
        return block;
    }

    private static ByteBuf literal(int first, String name, String value) {
        ByteBuf field = Unpooled.buffer().writeByte(first);
        Http2Frames.text(field, AsciiString.of(name));
        Http2Frames.text(field, AsciiString.of(value));
        return field;
    }
}
