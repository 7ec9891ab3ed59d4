package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;

class MessageDeframerTest {

    private static final int MAX_BYTES = 100_000;

    private final List<byte[]> got = new ArrayList<>();
    private final List<Integer> flags = new ArrayList<>();
    private MessageDeframer deframer = deframer(Framing.GRPC);

    private MessageDeframer deframer(Framing framing) {
        return new MessageDeframer(framing, MAX_BYTES, MessageKind.REQUEST, this::message);
    }

    private void message(int flag, ByteBuf payload) {
        flags.add(flag);
        got.add(ByteBufUtil.getBytes(payload));
        payload.release();
    }

    @AfterEach
    void close() {
        deframer.close();
    }

    private static byte[] frame(int flag, byte[] payload) {
        return ByteBuffer.allocate(5 + payload.length)
                .put((byte) flag)
                .putInt(payload.length)
                .put(payload)
                .array();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** Adds the bytes in a buffer and releases the buffer afterwards, as a connection does. */
    private void add(byte[] bytes, int offset, int length) {
        ByteBuf data = ByteBufAllocator.DEFAULT.buffer().writeBytes(bytes, offset, length);
        try {
            deframer.add(data);
        } finally {
            data.release();
        }
    }

    private void add(byte[] bytes) {
        add(bytes, 0, bytes.length);
    }

    @Test
    void messagesInOnePieceAreDeliveredInOrder() {
        ByteArrayOutputStream three = new ByteArrayOutputStream();
        three.writeBytes(frame(0, random(10)));
        three.writeBytes(frame(1, random(0)));
        three.writeBytes(frame(0, random(300)));
        deframer.request(10);

        add(three.toByteArray());

        assertThat(got).containsExactly(random(10), random(0), random(300));
        assertThat(flags).containsExactly(0, 1, 0);
        assertThat(deframer.isEmpty()).isTrue();
        assertThat(deframer.takeCredit()).isEqualTo(three.size());
    }

    @Test
    void wholeBufferOfAnIncompleteMessageIsHeld() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
        byte[] bytes = frame(0, random(90_000));
        deframer.request(1);

        for (int sent = 0; sent < 80_000; sent += 1_000) {
            ByteBuf data = allocator.heapBuffer().writeBytes(bytes, sent, 1_000);
            deframer.add(data);
            data.release();

            // For a small message, the number of its bytes is counted, not the size of its buffer.
            boolean isSmall = sent + 1_000 < BodyReader.SMALL_BYTES;
            assertThat((long) deframer.held())
                    .isEqualTo(isSmall ? sent + 1_000 : allocator.metric().usedHeapMemory());
        }
        deframer.close();
        assertThat(deframer.held()).isZero();
    }

    @Test
    void messagesSplitAnywhereAreReassembled() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(frame(0, random(7)));
        bytes.writeBytes(frame(0, random(0)));
        bytes.writeBytes(frame(1, random(40)));
        byte[] all = bytes.toByteArray();
        for (int first = 0; first <= all.length; first++) {
            for (int second = first; second <= all.length; second += 3) {
                got.clear();
                deframer.close();
                deframer = deframer(Framing.GRPC);
                deframer.request(5);

                add(all, 0, first);
                add(all, first, second - first);
                add(all, second, all.length - second);

                assertThat(got).containsExactly(random(7), random(0), random(40));
                assertThat(deframer.isEmpty()).isTrue();
            }
        }
    }

    @Test
    void largeMessageInSmallPiecesIsReassembled() {
        byte[] message = frame(0, random(MAX_BYTES));
        deframer.request(1);

        for (int i = 0; i < message.length; i += 100) {
            add(message, i, Math.min(100, message.length - i));
        }

        assertThat(got).containsExactly(random(MAX_BYTES));
    }

    @Test
    void onlyRequestedMessagesAreDelivered() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 1; i <= 5; i++) {
            bytes.writeBytes(frame(0, random(i)));
        }
        deframer.request(2);

        add(bytes.toByteArray());
        assertThat(got).containsExactly(random(1), random(2));
        deframer.request(1);
        assertThat(got).hasSize(3);
        deframer.request(Integer.MAX_VALUE);
        deframer.request(Integer.MAX_VALUE);

        assertThat(got).containsExactly(random(1), random(2), random(3), random(4), random(5));
        assertThat(deframer.isEmpty()).isTrue();
    }

    @Test
    void messagesRequestedDuringADeliveryFollowInOrder() {
        deframer = new MessageDeframer(Framing.GRPC, MAX_BYTES, MessageKind.REQUEST, (flag, payload) -> {
            message(flag, payload);
            deframer.request(1);
        });
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 1; i <= 50; i++) {
            bytes.writeBytes(frame(0, random(i)));
        }

        add(bytes.toByteArray());
        deframer.request(1);

        assertThat(got).hasSize(50);
        assertThat(got.get(49)).isEqualTo(random(50));
    }

    @Test
    void fewRemainingBytesKeepNoLargeBuffer() {
        UnpooledByteBufAllocator heap = new UnpooledByteBufAllocator(false);
        ByteBuf data = heap.buffer();
        for (int i = 0; i < 10_000; i++) {
            data.writeBytes(frame(0, new byte[15]));
        }
        deframer.add(data);
        data.release();

        deframer.request(9_990);

        assertThat(got).hasSize(9_990);
        assertThat(heap.metric().usedHeapMemory()).isEqualTo(10 * 20);
        deframer.request(20);
        assertThat(got).hasSize(10_000);
        assertThat(heap.metric().usedHeapMemory()).isZero();
    }

    @Test
    void anyNumberOfBytesCanFollowFewRemainingBytes() {
        ByteBuf data = new AdaptiveByteBufAllocator(true).buffer();
        for (int i = 0; i < 1_000; i++) {
            data.writeBytes(frame(0, random(50)));
        }
        deframer.add(data.slice());

        deframer.request(990); // this call copies the 10 messages that have not been requested
        for (int i = 0; i < 10; i++) {
            deframer.add(data.slice());
        }
        deframer.request(Integer.MAX_VALUE);

        assertThat(got)
                .hasSize(11_000)
                .allSatisfy(message -> assertThat(message).isEqualTo(random(50)));
        data.release();
    }

    @Test
    void creditIsGivenForRequestedMessagesOnly() {
        byte[] first = frame(0, random(10));
        byte[] second = frame(0, random(20));
        deframer.request(1);

        add(first, 0, 8);
        assertThat(deframer.takeCredit()).isEqualTo(8);
        add(first, 8, first.length - 8);
        assertThat(deframer.takeCredit()).isEqualTo(first.length - 8);
        add(second);
        add(second);
        assertThat(deframer.takeCredit()).isZero();
        deframer.request(1);
        assertThat(deframer.takeCredit()).isEqualTo(second.length);
        deframer.close();

        assertThat(deframer.takeCredit()).isEqualTo(second.length);
        add(second);
        assertThat(deframer.takeCredit()).isEqualTo(second.length);
        assertThat(got).hasSize(2);
    }

    @Test
    void endInTheMiddleOfAMessageIsSeen() {
        byte[] message = frame(0, random(10));
        deframer.request(1);

        add(message, 0, 3);
        assertThat(deframer.isIncomplete()).isTrue();
        add(message, 3, message.length - 3);
        assertThat(deframer.isIncomplete()).isFalse();
        add(message);

        assertThat(deframer.isIncomplete()).as("it was not asked for").isFalse();
        assertThat(deframer.isEmpty()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {MAX_BYTES + 1, Integer.MAX_VALUE, -1})
    void messageAboveTheLimitIsRefusedByItsPrefix(int length) {
        deframer.request(1);
        byte[] prefix = ByteBuffer.allocate(5).put((byte) 0).putInt(length).array();

        RpcException refused = catchThrowableOfType(RpcException.class, () -> add(prefix));

        assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused)
                .hasMessageContaining(Integer.toUnsignedString(length))
                .hasMessageContaining("100000")
                .hasMessageContaining("rpc.limits.max-request");
    }

    @ParameterizedTest
    @CsvSource({"GRPC, 2", "GRPC, 128", "GRPC_WEB, 2", "GRPC_WEB, 64", "CONNECT, 128", "CONNECT, 4"})
    void flagsThatDoNotExistAreRefused(Framing framing, int flag) {
        deframer = deframer(framing);
        deframer.request(1);

        RpcException refused = catchThrowableOfType(RpcException.class, () -> add(frame(flag, random(1))));

        assertThat(refused.code()).isEqualTo(StatusCode.INTERNAL);
        assertThat(refused).hasMessageContaining("0x" + Integer.toHexString(flag));
    }

    @ParameterizedTest
    @CsvSource({"GRPC_WEB, 128", "GRPC_WEB, 129", "CONNECT, 2", "CONNECT, 3"})
    void lastFrameOfGrpcWebAndConnectIsReported(Framing framing, int flag) {
        deframer = deframer(framing);
        deframer.request(1);

        add(frame(flag, random(3)));

        assertThat(flags).containsExactly(flag);
    }

    @Test
    void closeDuringADeliveryEndsTheDelivery() {
        deframer = new MessageDeframer(Framing.GRPC, MAX_BYTES, MessageKind.REQUEST, (flag, payload) -> {
            message(flag, payload);
            deframer.close();
        });
        byte[] message = frame(0, random(10));
        add(message);
        add(message, 0, 12);

        deframer.request(2);

        assertThat(got).hasSize(1);
        assertThat(deframer.isEmpty()).isTrue();
    }

    @Test
    void memoryGrowsWithReceivedBytes() {
        UnpooledByteBufAllocator counting = new UnpooledByteBufAllocator(false);
        deframer = new MessageDeframer(Framing.GRPC, MAX_BYTES, MessageKind.REQUEST, this::message);
        deframer.request(1);

        ByteBuf data = counting.buffer(8).writeBytes(new byte[] {0, 0, 1, (byte) 0x86, (byte) 0xA0, 1, 2, 3});
        deframer.add(data);
        data.release();

        assertThat(counting.metric().usedHeapMemory()).isLessThan(100);
    }
}
