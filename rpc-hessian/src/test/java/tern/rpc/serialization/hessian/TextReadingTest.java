package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

class TextReadingTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int CHUNK = 0x8000;

    private final HessianInput input = new HessianInput();

    @Test
    void textOfEveryShortLengthIsReadWithAnyUnitAtAnyPlace() {
        for (int length = 0; length < 80; length++) {
            String ascii = "abcdefghij".repeat(8).substring(0, length);
            assertThat(read(written(ascii))).isEqualTo(ascii);
            for (int at = 0; at < length; at++) {
                for (char unit : new char[] {'\u0080', '\u07ff', '\u0800', '\ud83d', '\udc00', '\uffff'}) {
                    String text = ascii.substring(0, at) + unit + ascii.substring(at + 1);
                    assertThat(read(written(text))).isEqualTo(text);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5, 1 << 20, (1 << 20) + CHUNK + 1})
    void textOfSeveralChunksIsJoined(int length) {
        String plain = "0123456789abcde".repeat(length / 15 + 1).substring(0, length);
        for (String text : List.of(
                plain,
                "\u6f22" + plain.substring(1),
                plain.substring(1) + "\u00e9",
                "\ud83d\ude00".repeat(length / 2))) {
            assertThat(read(written(text)).equals(text)).isTrue();
        }
    }

    @Test
    void chunksWithoutCharactersAreRead() {
        assertThat(read(new byte[] {'R', 0, 0, 'R', 0, 0, 0})).isEmpty();
        assertThat(read(new byte[] {'R', 0, 1, 'a', 'R', 0, 0, 'S', 0, 1, 'b'})).isEqualTo("ab");
        assertThat(read(new byte[] {'R', 0, 1, 'a', 'R', 0, 0, 0})).isEqualTo("a");
    }

    @Test
    void textIsReadWhereItBeginsAnywhereInTheArray() {
        for (int offset = 0; offset < 20; offset++) {
            byte[] text = written("name");
            byte[] array = new byte[offset + text.length + 3];
            Arrays.fill(array, (byte) 0xff);
            System.arraycopy(text, 0, array, offset, text.length);

            input.start(array, offset, text.length);

            assertThat(input.textOf(input.next(), 10)).isEqualTo("name");
            assertThat(input.remaining()).isZero();
        }
    }

    @Test
    void textCutOffAnywhereIsRefused() {
        byte[] whole = written("abc\u00e9\u6f22".repeat(20));
        for (int length = 1; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(cut)).isInstanceOf(SerializationException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x80, 0xbf, 0xf0, 0xff})
    void byteThatBeginsNoCharacterIsRefusedAnywhere(int wrong) {
        for (int at = 1; at <= 30; at++) {
            byte[] bytes = new byte[31];
            Arrays.fill(bytes, (byte) 'a');
            bytes[0] = 30;
            bytes[at] = (byte) wrong;
            assertThatThrownBy(() -> read(bytes))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("instead of a character");
        }
    }

    @Test
    void incompleteCharacterIsRefused() {
        for (byte[] character :
                List.of(new byte[] {(byte) 0xc3, 'a'}, new byte[] {(byte) 0xe6, 'a', (byte) 0x80}, new byte[] {
                    (byte) 0xe6, (byte) 0x80, (byte) 0xc0
                })) {
            byte[] bytes = new byte[40];
            Arrays.fill(bytes, (byte) 'a');
            bytes[0] = 20;
            System.arraycopy(character, 0, bytes, 5, character.length);
            assertThatThrownBy(() -> read(bytes))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("the rest of a character");
        }
    }

    @Test
    void chunksTogetherMayNotBeLongerThanAccepted() {
        byte[] text = written("x".repeat(CHUNK + 10));

        input.start(text, 0, text.length);

        assertThatThrownBy(() -> input.textOf(input.next(), CHUNK + 9)).hasMessageContaining("longer than 32777");
    }

    @Test
    void textOfSeveralChunksTakesItsOwnRoomAlone() {
        int length = 200 << 10;
        byte[] text = written("x".repeat(length));
        read(text);

        long before = THREADS.getCurrentThreadAllocatedBytes();
        read(text);

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(length + 4_096);
    }

    private String read(byte[] bytes) {
        input.start(bytes, 0, bytes.length);
        String text = input.textOf(input.next(), Integer.MAX_VALUE);
        assertThat(input.remaining()).isZero();
        return text;
    }

    private static byte[] written(String text) {
        OutputBuffer bytes = new OutputBuffer();
        bytes.reset(Integer.MAX_VALUE);
        new ScalarOutput(bytes).writeString(text);
        return bytes.toByteArray();
    }
}
