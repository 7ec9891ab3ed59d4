package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tern.rpc.serialization.SerializationException;

/**
 * Compares Tern's reader and writer with recordings from hessian-lite 4.0.4. Column 2 of the file contains the bytes
 * written by hessian-lite, and column 3 the value that hessian-lite read back.
 */
class VectorsTest {

    /** The recorded class name {@code H$Pt} in hex. The class was nested in a class of the default package. */
    private static final String RECORDED_POINT = "48245074";

    record Point(int x, int y) implements Serializable {}

    interface Vectors {
        void take(Point point, Thread.State state);
    }

    private static final class NotSerializable {}

    private final Coding coding = Coding.of(Vectors.class);

    @TestFactory
    Stream<DynamicTest> valuesAreWrittenAsRecordedAndReadBack() {
        List<String[]> rows = rows();
        List<Object> values = values();
        return IntStream.range(0, values.size())
                .mapToObj(i -> DynamicTest.dynamicTest(
                        i + 1 + " " + rows.get(i)[0],
                        () -> check(values.get(i) == NULL ? null : values.get(i), rows.get(i))));
    }

    private void check(@Nullable Object value, String[] row) {
        if (row[1].startsWith("WRITE-EX")) {
            assertThatThrownBy(() -> coding.write(value))
                    .isInstanceOf(SerializationException.class)
                    .message()
                    .containsAnyOf("does not implement java.io.Serializable", "cannot be sent; pass the value itself");
            return;
        }
        byte[] written = coding.write(value);
        if (value instanceof Class) {
            assertThatThrownBy(() -> coding.read(written))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("java.lang.Class");
            return;
        }
        assertThat(Coding.hex(written)).startsWith(recorded(row[1]));
        Object read = coding.read(written);
        assertSame(value, read);
        if (!row[1].contains("...") && !(value instanceof StringBuilder) && !(value instanceof BigInteger)) {
            assertSame(value, coding.read(Coding.bytes(recorded(row[1]))));
        }
        assertThat(read == null ? "null" : read.getClass().getName()).isEqualTo(recordedClass(row[2]));
    }

    /**
     * Returns the recorded bytes, with the class name of this test's {@code Point} instead of the recorded class name.
     * For classes whose fields depend on the JDK, returns only the bytes up to the class name.
     */
    private static String recorded(String hex) {
        String known = hex.replaceAll("\\.\\.\\..*", "");
        for (String name : List.of("java.lang.StringBuilder", "java.math.BigInteger")) {
            String named = Coding.hex(Coding.bytes('"' + name + '"'));
            if (known.startsWith("43" + named)) {
                return "43" + named;
            }
        }
        return known.replace(
                "4304" + RECORDED_POINT, "43" + Coding.hex(Coding.bytes('"' + Point.class.getName() + '"')));
    }

    private static String recordedClass(String column) {
        String name = column.split(" ", -1)[0];
        return name.equals("H$Pt") ? Point.class.getName() : name;
    }

    private static void assertSame(@Nullable Object expected, @Nullable Object read) {
        if (expected instanceof StringBuilder) {
            assertThat(read).hasToString(expected.toString());
        } else if (expected instanceof AtomicLong) {
            assertThat(read).hasToString("5");
        } else if (expected instanceof Float) {
            assertThat(read).isEqualTo(1.5);
        } else if (expected instanceof Byte || expected instanceof Short) {
            assertThat(read).isEqualTo(3);
        } else if (expected instanceof Character) {
            assertThat(read).isEqualTo("c");
        } else {
            assertThat(read).isEqualTo(expected);
        }
    }

    @Test
    void aListMayContainItself() {
        Object read = coding.read(Coding.bytes("7a 01 73 51 90"));

        assertThat((List<?>) read).hasSize(2).first().isEqualTo("s");
        assertThat(((List<?>) read).get(1)).isSameAs(read);
    }

    @Test
    void anUnknownClassIsRefusedInsteadOfBecomingAMap() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"com.nowhere.Point\" 92 \"x\" \"y\" 60 91 92")))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("com.nowhere.Point")
                .hasMessageContaining("rpc.limits.allowed-classes=com.nowhere.Point");
    }

    @Test
    void aDeniedClassIsRefusedInsteadOfBecomingAMap() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"javax.naming.InitialContext\" 90 60")))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("javax.naming.InitialContext");
    }

    private static final Object NULL = new Object();

    /** Returns the values in the order of the rows in the file. */
    private static List<Object> values() {
        List<Object> values = new ArrayList<>();
        values.add(NULL);
        values.addAll(List.of(true, false));
        values.addAll(List.of(0, -16, 47, 48, -2048, 2047, 2048, -262144, 262143, 262144, Integer.MAX_VALUE));
        values.addAll(List.of(0L, -8L, 15L, 16L, 2047L, 2048L, 262143L, 262144L, 1L << 31, Long.MAX_VALUE));
        values.addAll(List.of(0.0, 1.0, 5.0, 127.0, 128.0, 32767.0, 12.25, 3.14159));
        values.addAll(List.of(1.5f, (byte) 3, (short) 3, 'c'));
        for (int length : new int[] {0, 31, 32, 1023, 1024}) {
            values.add("a".repeat(length));
        }
        for (int length : new int[] {0, 15, 16, 1023, 1024, 5000}) {
            values.add(new byte[length]);
        }
        values.add(new int[] {1, 2});
        values.add(new String[] {"a"});
        values.add(new Object[] {"a", 1});
        values.addAll(List.of(List.of(1, 2), new ArrayList<>(List.of("x")), Arrays.asList(1, 2)));
        values.addAll(List.of(Collections.emptyList(), new LinkedList<>(List.of(1)), new HashSet<>(Set.of(1))));
        values.addAll(List.of(Set.of(1), Map.of("k", 1), new HashMap<>(Map.of("k", 1))));
        values.addAll(List.of(new LinkedHashMap<>(Map.of("k", 1)), new TreeMap<>(Map.of("k", 1))));
        values.addAll(List.of(new Date(0), new Timestamp(1000), LocalDate.of(2024, 1, 2), Duration.ofSeconds(3)));
        values.add(ZonedDateTime.of(2024, 1, 2, 3, 4, 5, 0, ZoneId.of("UTC")));
        values.add(OffsetDateTime.of(2024, 1, 2, 3, 4, 5, 0, ZoneOffset.UTC));
        values.addAll(List.of(Year.of(2024), new BigDecimal("1.50"), new BigInteger("12345678901234567890")));
        values.addAll(List.of(Optional.of("x"), EnumSet.of(Thread.State.NEW), Thread.State.NEW, new Point(1, 2)));
        values.addAll(List.of(String.class, Locale.US, UUID.fromString("123e4567-e89b-12d3-a456-426614174000")));
        values.addAll(List.of(new AtomicLong(5), new BitSet(), Currency.getInstance("USD"), new StringBuilder("sb")));
        values.add(NULL);
        return values;
    }

    @Test
    void unserializableValueIsNotWritten() {
        assertThatThrownBy(() -> coding.write(new NotSerializable()))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(NotSerializable.class.getName());
    }

    private static List<String[]> rows() {
        try (InputStream file = VectorsTest.class.getResourceAsStream("/wire/hessian2/vectors.tsv")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.split("\t", -1))
                    .toList();
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }
}
