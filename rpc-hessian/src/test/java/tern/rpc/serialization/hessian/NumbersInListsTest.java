package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tests lists in which consecutive one-byte numbers are read and written together. The bytes must be the same as those
 * of numbers that are written one by one.
 */
class NumbersInListsTest {

    interface Numbers {
        List<@Nullable Integer> numbers();
    }

    private static final Type NUMBERS = declared();

    private final Coding coding = Coding.of(Numbers.class);

    private static Type declared() {
        try {
            return Numbers.class.getMethod("numbers").getGenericReturnType();
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void numbersOfDifferentSizesAreReadFromOneList() {
        Random random = new Random(7);
        for (int round = 0; round < 2_000; round++) {
            List<@Nullable Integer> numbers = new ArrayList<>();
            for (int i = random.nextInt(60); i > 0; i--) {
                numbers.add(
                        switch (random.nextInt(8)) {
                            case 0 -> null;
                            case 1 -> random.nextInt();
                            case 2 -> -17 + random.nextInt(3);
                            case 3 -> 46 + random.nextInt(3);
                            default -> -16 + random.nextInt(64);
                        });
            }
            byte[] bytes = coding.write(numbers);

            assertThat(bytes).isEqualTo(Coding.writeLite(numbers));
            assertThat(coding.read(bytes, NUMBERS)).isEqualTo(numbers);
        }
    }

    @Test
    void listMayContainValuesOfOtherTypes() {
        List<Object> mixed = new ArrayList<>(Arrays.asList(1, 2, 3L, 4, "five", 6, (short) 7, 8.0, 9, 'x', 10, 11));

        assertThat(coding.write(mixed)).isEqualTo(Coding.writeLite(mixed));
        assertThat(coding.read(Coding.bytes("7e 91 92 e3 94 5d05 96"), NUMBERS)).isEqualTo(List.of(1, 2, 3, 4, 5, 6));
    }

    @Test
    void listOfUnknownLengthIsRead() {
        assertThat(coding.read(Coding.bytes("57 91 92 c900 93 5a"), NUMBERS)).isEqualTo(List.of(1, 2, 256, 3));
    }

    /**
     * hessian-lite splits binary data at the end of its 8 KiB buffer. hessian-lite also flushes the buffer before a
     * number that might not fit.
     */
    @Test
    void numbersBeforeBinaryDataAreWrittenAsByHessianLiteAroundTheBorder() {
        for (int count = 8_140; count < 8_200; count++) {
            List<Object> values = new ArrayList<>(Collections.nCopies(count, 5));
            values.add(new byte[9_000]);

            assertThat(Arrays.equals(coding.write(values), Coding.writeLite(values)))
                    .as("%d numbers", count)
                    .isTrue();
        }
    }

    @Test
    void eachNumberOfARunIsCounted() {
        Coding ten = new Coding(
                HessianSerializer.builder()
                        .limits(new HessianLimits(64, 10, 10, 10, 100, 4, 1000))
                        .build(),
                Numbers.class);

        assertThat(ten.read(Coding.bytes("58 99" + " 91".repeat(9)), NUMBERS)).isEqualTo(Collections.nCopies(9, 1));
        assertThatThrownBy(() -> ten.read(Coding.bytes("58 9a" + " 91".repeat(10)), NUMBERS))
                .hasMessageContaining("more than 10 values");
    }

    @Test
    void aRunThatEndsTooEarlyIsRefused() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("58 99 91 91 91"), NUMBERS))
                .hasMessageContaining("9 values claimed");
        assertThatThrownBy(() -> coding.read(Coding.bytes("58 93 91 91 c8"), NUMBERS))
                .hasMessageContaining("message ends in the middle of a value");
    }
}
