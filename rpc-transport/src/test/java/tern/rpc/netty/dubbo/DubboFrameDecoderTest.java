package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DubboFrameDecoderTest {

    private static final int MAX_BODY = 1 << 20;

    private final List<ByteBuf> bodies = new ArrayList<>();

    private final EmbeddedChannel channel = new EmbeddedChannel(decoder(MAX_BODY));

    private DubboFrameDecoder decoder(int maxBodyBytes) {
        return new DubboFrameDecoder(maxBodyBytes) {
            @Override
            void frame(int flags, int status, long id, ByteBuf body) {
                bodies.add(body);
            }

            @Override
            boolean tooLarge(int flags, long id, int length) {
                throw new AssertionError("too large: " + length);
            }

            @Override
            void broken(String how) {
                throw new AssertionError(how);
            }
        };
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100, 4_095, 4_096, 5_000, 16 << 10, 64 << 10, 1 << 20})
    void framesOfAllSizesArePutTogetherFromReadsOfAnySize(int size) {
        int part = size < 100 ? 20 : 1; // small pieces need many reads, so the test uses only a part of the input
        List<byte[]> sent =
                List.of(body(51_200 / part), body(3), body(200_000 / part), body(0), body(70_000 / part), body(120));

        List<ByteBuf> reads = send(sent, size);

        assertThat(bodies).hasSize(sent.size());
        for (int i = 0; i < sent.size(); i++) {
            assertThat(ByteBufUtil.getBytes(bodies.get(i))).isEqualTo(sent.get(i));
            bodies.get(i).release();
        }
        assertThat(reads).allMatch(read -> read.refCnt() == 0);
    }

    @Test
    void bodiesMayBeReadInAnyOrderAndLater() {
        List<byte[]> sent = List.of(body(51_200), body(51_200), body(100), body(51_200));

        List<ByteBuf> reads = send(sent, 64 << 10);

        for (int i = sent.size() - 1; i >= 0; i--) {
            assertThat(ByteBufUtil.getBytes(bodies.get(i))).isEqualTo(sent.get(i));
            bodies.get(i).release();
        }
        assertThat(reads).allMatch(read -> read.refCnt() == 0);
    }

    @Test
    void smallReadsAreNotKept() {
        ByteBuf first = channel.alloc().buffer(64 << 10).writeBytes(header(100_000));
        channel.writeInbound(first);

        for (int i = 0; i < 50; i++) {
            ByteBuf small = channel.alloc().buffer(64 << 10).writeBytes(new byte[1_000]);
            channel.writeInbound(small);
            assertThat(small.refCnt()).isZero();
        }
        ByteBuf halfEmpty = channel.alloc().buffer(64 << 10).writeBytes(new byte[5_000]);
        channel.writeInbound(halfEmpty);
        assertThat(halfEmpty.refCnt()).isZero();

        ByteBuf full = Unpooled.wrappedBuffer(new byte[45_000]);
        channel.writeInbound(full);
        assertThat(full.refCnt()).as("linked, as copying it would cost more").isOne();
        assertThat(bodies).hasSize(1);
        bodies.get(0).release();
        assertThat(full.refCnt()).isZero();
    }

    @Test
    void lengthNear2GiBWaitsForItsBytes() {
        EmbeddedChannel unlimited = new EmbeddedChannel(decoder(Integer.MAX_VALUE));

        unlimited.writeInbound(Unpooled.wrappedBuffer(header(Integer.MAX_VALUE), new byte[100]));

        assertThat(bodies).isEmpty();
        unlimited.finishAndReleaseAll();
    }

    /** @return the buffers that were passed to the decoder */
    private List<ByteBuf> send(List<byte[]> sent, int size) {
        ByteBuf stream = Unpooled.buffer();
        for (byte[] body : sent) {
            stream.writeBytes(header(body.length)).writeBytes(body);
        }
        List<ByteBuf> reads = new ArrayList<>();
        while (stream.isReadable()) {
            int length = Math.min(size, stream.readableBytes());
            ByteBuf read = channel.alloc().buffer(length).writeBytes(stream, length);
            reads.add(read);
            channel.writeInbound(read);
        }
        stream.release();
        return reads;
    }

    private static byte[] header(int length) {
        byte[] header = new byte[DubboHeader.BYTES];
        DubboHeader.write(header, DubboHeader.FLAG_REQUEST | DubboHeader.HESSIAN2, 0, 7, length);
        return header;
    }

    private static byte[] body(int length) {
        byte[] body = new byte[length];
        new Random(length).nextBytes(body);
        return body;
    }
}
