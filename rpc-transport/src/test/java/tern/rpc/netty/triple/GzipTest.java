package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

class GzipTest {

    private final Gzip gzip = new Gzip();

    private byte[] compressed(byte[] bytes) {
        OutputBuffer out = new OutputBuffer();
        gzip.compress(bytes, 0, bytes.length, out);
        return out.toByteArray();
    }

    private byte[] decompressed(byte[] bytes, int limit) {
        OutputBuffer out = new OutputBuffer();
        out.reset(limit, 0, MessageKind.REQUEST);
        gzip.decompress(bytes, 0, bytes.length, out);
        return out.toByteArray();
    }

    private static byte[] byTheJdk(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream stream = new GZIPOutputStream(out)) {
            stream.write(bytes);
        }
        return out.toByteArray();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 4_096, 100_000})
    void othersReadWhatIsWritten(int length) throws IOException {
        byte[] bytes = random(length);

        try (GZIPInputStream stream = new GZIPInputStream(new ByteArrayInputStream(compressed(bytes)))) {
            assertThat(stream.readAllBytes()).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 4_096, 100_000})
    void outputOfTheJdkIsRead(int length) throws IOException {
        assertThat(decompressed(byTheJdk(random(length)), length)).isEqualTo(random(length));
    }

    @Test
    void partOfAnArrayIsRead() {
        byte[] compressed = compressed("hello".getBytes(UTF_8));
        byte[] around = new byte[compressed.length + 20];
        System.arraycopy(compressed, 0, around, 10, compressed.length);
        OutputBuffer out = new OutputBuffer();
        out.write('>');

        gzip.decompress(around, 10, compressed.length, out);

        assertThat(out.toByteArray()).asString(UTF_8).isEqualTo(">hello");
    }

    @Test
    void membersBehindOneAnotherAreOneMessage() throws IOException {
        ByteArrayOutputStream two = new ByteArrayOutputStream();
        two.write(compressed("hel".getBytes(UTF_8)));
        two.write(byTheJdk("lo".getBytes(UTF_8)));

        assertThat(decompressed(two.toByteArray(), 5)).asString(UTF_8).isEqualTo("hello");
    }

    @Test
    void optionalPartsOfTheHeaderArePassedOver() {
        byte[] plain = compressed("hello".getBytes(UTF_8));
        ByteArrayOutputStream rich = new ByteArrayOutputStream();
        rich.write(plain, 0, 3);
        rich.write(0x1E); // these flags mean that the header has an extra field, a name, a comment and a checksum
        rich.write(plain, 4, 6);
        rich.writeBytes(new byte[] {2, 0, 9, 9, 'n', 0, 'c', 0, 1, 1});
        rich.write(plain, 10, plain.length - 10);

        assertThat(decompressed(rich.toByteArray(), 5)).asString(UTF_8).isEqualTo("hello");
    }

    @Test
    void bombIsRefusedAtTheLimit() {
        byte[] bomb = compressed(new byte[10_000_000]);

        RpcException refused = catchThrowableOfType(RpcException.class, () -> decompressed(bomb, 9_999_999));

        assertThat(bomb).hasSizeLessThan(20_000);
        assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused).hasMessageContaining("9999999").hasMessageContaining("rpc.limits.max-request");
    }

    @Test
    void messageThatBecomesAHundredTimesAsLargeIsRefusedBeyondAMebibyte() {
        Gzip bounded = new Gzip(100);
        OutputBuffer out = new OutputBuffer();
        byte[] small = compressed(new byte[1 << 20]);
        byte[] large = compressed(new byte[8 << 20]);

        out.reset(8 << 20);
        bounded.decompress(small, 0, small.length, out);
        assertThat(out.position()).isEqualTo(1 << 20);

        out.reset(8 << 20);
        RpcException refused =
                catchThrowableOfType(RpcException.class, () -> bounded.decompress(large, 0, large.length, out));
        assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused)
                .hasMessageContaining("a compressed message of " + large.length + " bytes")
                .hasMessageContaining("100 times")
                .hasMessageContaining("rpc.limits.max-unpacked-ratio");
        assertThat(out.position()).isLessThanOrEqualTo(1 << 20);
    }

    @Test
    void headersAndEmptyMembersDoNotRaiseTheRatio() {
        Gzip bounded = new Gzip(100);
        byte[] bomb = compressed(new byte[4 << 20]);
        ByteArrayOutputStream named = new ByteArrayOutputStream();
        named.write(bomb, 0, 3);
        named.write(0x08); // this flag means that the header has a name
        named.write(bomb, 4, 6);
        named.writeBytes("n".repeat(100_000).getBytes(UTF_8));
        named.write(0);
        named.write(bomb, 10, bomb.length - 10);
        ByteArrayOutputStream members = new ByteArrayOutputStream();
        for (int i = 0; i < 1_000; i++) {
            members.writeBytes(compressed(new byte[0]));
        }
        members.writeBytes(bomb);

        for (ByteArrayOutputStream padded : List.of(named, members)) {
            byte[] bytes = padded.toByteArray();
            OutputBuffer out = new OutputBuffer();
            out.reset(8 << 20);
            assertThat(bytes.length).isGreaterThan(bomb.length + 19_000);
            assertThatThrownBy(() -> bounded.decompress(bytes, 0, bytes.length, out))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("100 times");
        }
    }

    @Test
    void messageCutAnywhereIsRefused() {
        byte[] whole = compressed(random(300));
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);

            assertThatThrownBy(() -> decompressed(cut, 1_000)).isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void flippedBitsAreRefusedOrSeenInTheContent() {
        byte[] whole = compressed(random(300));
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
            byte[] flipped = whole.clone();
            flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
            try {
                assertThat(decompressed(flipped, 1_000)).isEqualTo(random(300));
            } catch (SerializationException | RpcException refused) {
                assertThat(refused).hasMessageContaining("compressed");
            }
        }
    }

    @Test
    void coderIsGoodAgainAfterAFailure() {
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> decompressed(compressed(random(1_000)), 10))
                    .isInstanceOf(RpcException.class);
            assertThat(decompressed(compressed(random(100)), 100)).isEqualTo(random(100));
        }
    }
}
