package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** Compares the bytes written by Tern and hessian-lite in the most error-prone cases. */
class WrittenBytesTest {

    private static final int GRAPHS = 10_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The parts from which a test string is built: a beginning, a part that is repeated, and an end. */
    enum Alphabet {
        ASCII("", "abcdefghij", ""),
        LATIN("", "caf\u00e9 \u0080\u007f\u00ff", ""),
        GREEK("", "\u03b1\u03b2 \u07ff", ""),
        CHINESE("", "\u6f22\u5b57\u0800\uffff", ""),
        PAIRS("", "\ud83d\ude00", ""),
        SHIFTED_PAIRS("x", "\ud83d\ude00", ""),
        LONE_SURROGATES("", "\ude00\ud83d\ud83dx", ""),
        ASCII_BUT_THE_LAST("", "a", "\u00e9"),
        ASCII_BUT_THE_FIRST("\u6f22", "a", "");

        private final String first;
        private final String cycle;
        private final String last;

        Alphabet(String first, String cycle, String last) {
            this.first = first;
            this.cycle = cycle;
            this.last = last;
        }

        String text(int units) {
            String middle = cycle.repeat(units / cycle.length() + 1);
            String text = first + middle.substring(0, Math.max(0, units - first.length() - last.length())) + last;
            return text.substring(0, Math.min(units, text.length()));
        }
    }

    /** A bean with fields of all types that hessian-lite writes as plain values. */
    static class Plain implements Serializable {
        int number = 70_000;
        long wide = 1L << 40;
        short small = -5;
        byte tiny = 3;
        char letter = '\u6f22';
        float fraction = 0.1f;
        double ratio = 0.001;
        boolean set = true;
        String text = "text";
        Integer boxed = 7;
        Date at = new Date(123_456_789);
        java.sql.Timestamp stamp = new java.sql.Timestamp(60_000);
        List<String> words = new ArrayList<>(List.of("a", "b"));

        @Nullable
        Plain next;
    }

    record Parts(byte tiny, short small, char letter, float fraction, double ratio, boolean set, Float boxed, Date at)
            implements Serializable {}

    /** A class whose instances are replaced with other objects when they are written. */
    static class Money implements Serializable {
        private final long cents;

        Money(long cents) {
            this.cents = cents;
        }

        private Object writeReplace() {
            return cents == 0 ? "nothing" : new Cents(cents);
        }
    }

    record Cents(long cents) implements Serializable {}

    /**
     * If an instance has a target, the target is written instead of the instance. Otherwise the instance itself is
     * written.
     */
    static class Proxy implements Serializable {
        private final @Nullable Object target;

        Proxy(@Nullable Object target) {
            this.target = target;
        }

        private Object writeReplace() {
            return target == null ? this : target;
        }
    }

    private final OutputBuffer buffer = new OutputBuffer();
    private final ObjectWriter writer = HessianSerializer.builder().build().newWriter();

    private byte[] written(@Nullable Object value, int limit) {
        buffer.reset(limit);
        writer.start(buffer);
        writer.writeObject(value);
        writer.finish();
        return buffer.toByteArray();
    }

    private void assertSameBytes(@Nullable Object value) {
        assertThat(written(value, Integer.MAX_VALUE)).isEqualTo(Coding.writeLite(value));
    }

    @ParameterizedTest
    @EnumSource
    void textsAreWrittenAsByHessianLiteAtEveryLengthAroundTheBorders(Alphabet alphabet) {
        for (int border : new int[] {0, 0x20, 48, 0x400, 2048, 8176, 8192, 0x8000, 0x10000, 0x18000}) {
            for (int length = Math.max(0, border - 3); length <= border + 3; length++) {
                String text = alphabet.text(length);

                assertThat(Arrays.equals(written(text, Integer.MAX_VALUE), Coding.writeLite(text)))
                        .as("%s, %d units", alphabet, length)
                        .isTrue();
            }
        }
    }

    @Test
    void numbersOfEverySizeAreWrittenAsByHessianLite() {
        List<Object> numbers = new ArrayList<>();
        for (int bit = 0; bit < Long.SIZE; bit++) {
            for (long step = -2; step <= 2; step++) {
                long value = (1L << bit) + step;
                for (long signed : new long[] {value, -value}) {
                    Collections.addAll(numbers, (byte) signed, (short) signed, (int) signed, signed);
                    Collections.addAll(numbers, (double) signed, signed / 1000.0, (float) signed, signed / 1000f);
                    Collections.addAll(numbers, new Date(signed), new Date(signed / 60_000 * 60_000));
                }
            }
        }
        Collections.addAll(numbers, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Float.NaN, 'x');
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            Collections.addAll(numbers, random.nextInt(), random.nextLong(), random.nextDouble() * 1e6);
            Collections.addAll(numbers, Float.intBitsToFloat(random.nextInt()), random.nextInt() / 1000.0);
        }

        assertSameBytes(numbers);
        numbers.forEach(this::assertSameBytes);
    }

    /**
     * hessian-lite splits binary data at the end of its 8 KiB buffer, and flushes the buffer before a value that might
     * not fit. The free space that it requires depends on the kind of value.
     */
    @Test
    void binaryDataIsCutAtTheSamePlaces() {
        List<Object> befores = new ArrayList<>(Arrays.asList(1, 1_000_000, 1L << 60, 0.1, true, null, new Date(1)));
        Collections.addAll(
                befores, "x", "\u6f22\u5b57", new byte[5], new int[] {1}, new LinkedList<>(), new HashMap<>());
        Collections.addAll(befores, new Plain(), new Cents(5), TimeUnit.DAYS, new TreeMap<>());
        for (Object before : befores) {
            for (int fill = 8120; fill < 8200; fill++) {
                for (Alphabet alphabet : new Alphabet[] {Alphabet.ASCII, Alphabet.PAIRS}) {
                    String text = alphabet.text(alphabet == Alphabet.ASCII ? fill : fill / 3);
                    List<Object> values = new ArrayList<>(Arrays.asList(text, before, before, new byte[9_000]));

                    assertThat(Arrays.equals(written(values, Integer.MAX_VALUE), Coding.writeLite(values)))
                            .as("%s, %d, %s", alphabet, fill, before)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void binaryDataIsWrittenAsByHessianLiteAtEveryLengthAroundTheBorders() {
        for (int border : new int[] {0, 16, 0x400, 8189, 2 * 8189, 0x10000}) {
            for (int length = Math.max(0, border - 20); length <= border + 20; length++) {
                assertSameBytes(new byte[length]);
                assertSameBytes(List.of("some text before", new byte[length], new byte[length]));
            }
        }
    }

    @Test
    void fieldsOfEveryTypeAreWrittenAsByHessianLite() {
        Plain plain = new Plain();
        plain.next = new Plain();
        plain.next.next = plain;

        assertSameBytes(plain);
        assertSameBytes(new ArrayList<>(List.of(plain, plain.next)));
        assertSameBytes(new Parts((byte) 1, (short) 2, 'x', 1.23456794E9f, 0.25, true, 0.1f, new Date(5)));
        assertSameBytes(new java.sql.Timestamp(5));
    }

    @Test
    void replacementIsReferredToLater() {
        Money money = new Money(5);

        assertSameBytes(new ArrayList<>(Arrays.asList(money, money, new Money(5), new Money(0), new Money(0))));
    }

    /** If two objects have the same replacement, hessian-lite writes a wrong reference. */
    @Test
    void commonReplacementOfTwoObjectsIsWrittenOnce() {
        List<String> target = new ArrayList<>(List.of("x"));
        List<?> read = (List<?>) Coding.readLite(written(
                new ArrayList<>(List.of(new Proxy(target), new Proxy(target), target, new ArrayList<>())),
                Integer.MAX_VALUE));

        assertThat(read.get(0)).isEqualTo(target);
        assertThat(read.get(1)).isSameAs(read.get(0));
        assertThat(read.get(2)).isSameAs(read.get(0));
    }

    @Test
    void objectThatReplacesItselfIsWrittenByItsFields() {
        Proxy alone = new Proxy(null);

        assertSameBytes(new ArrayList<>(List.of(alone, alone, new Proxy(null), "after")));
    }

    /**
     * In a message with few values, the writer finds a reference by comparing the values one by one. In a message with
     * many values, the writer uses a hash table.
     */
    @Test
    void referencesToManyObjectsAreWrittenAsByHessianLite() {
        for (int count : new int[] {1, 15, 16, 17, 18, 127, 128, 129, 130, 511, 513, 5_000}) {
            Random random = new Random(count);
            List<List<Object>> lists = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                lists.add(new ArrayList<>());
            }
            lists.forEach(list -> list.addAll(
                    List.of(lists.get(random.nextInt(count)), "x", Thread.State.values()[random.nextInt(6)])));
            LinkedHashSet<Object> byIdentity = new LinkedHashSet<>();
            lists.forEach(list -> byIdentity.add(new Object[] {list, list}));

            assertSameBytes(new ArrayList<>(byIdentity));
            assertSameBytes(byIdentity);
        }
    }

    /**
     * Two classes with the same name but different class loaders may have different fields. hessian-lite treats them as
     * one class.
     */
    @Test
    void classesOfOneNameAreDefinedEach() throws ReflectiveOperationException {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Class<?> copy = RecordingLoader.copyOf(Plain.class);
            Constructor<?> constructor = copy.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object bean = constructor.newInstance();
            Field number = copy.getDeclaredField("number");
            number.setAccessible(true);
            number.set(bean, i);
            Collections.addAll(values, bean, constructor.newInstance());
        }

        byte[] bytes = written(values, Integer.MAX_VALUE);

        assertThat(new String(bytes, StandardCharsets.ISO_8859_1).split(Pattern.quote(Plain.class.getName()), -1))
                .hasSize(21);
        List<?> read = (List<?>) Coding.readLite(bytes);
        assertThat(read).hasSize(40);
        assertThat(((Plain) read.get(38)).number).isEqualTo(19);
        assertThat(((Plain) read.get(39)).number).isEqualTo(70_000);
    }

    @Test
    void typesThatHessianLiteReadsByUnsafeAreWrittenAsByHessianLite() {
        BigInteger large = BigInteger.ONE.shiftLeft(31);
        for (BigInteger number : List.of(
                new BigInteger("0"),
                large.subtract(BigInteger.ONE),
                large,
                large.negate(),
                large.pow(3),
                large.pow(4))) {
            assertSameBytes(new BigInteger(number.toByteArray()));
        }
        assertSameBytes(new IllegalStateException().getStackTrace());
        EnumSet<TimeUnit> units = EnumSet.of(TimeUnit.DAYS, TimeUnit.HOURS);
        assertSameBytes(
                List.of(EnumSet.noneOf(TimeUnit.class), units, new Cents(1), units, EnumSet.allOf(Alphabet.class)));
        List<Object> values =
                new ArrayList<>(List.of(new AtomicBoolean(true), new AtomicInteger(5), new AtomicLong(6)));
        AtomicReference<Object> itself = new AtomicReference<>();
        itself.set(itself);
        Collections.addAll(values, itself, new AbstractMap.SimpleEntry<>("k", values), new AtomicReference<>());
        Collections.addAll(values, new AbstractMap.SimpleImmutableEntry<>("k", 1), itself, Currency.getInstance("EUR"));
        assertSameBytes(values);
    }

    @Test
    void arraysAndBuildersOfTheJdkAreWrittenAsByHessianLite() {
        StringBuilder itself = trimmed("\u6f22\u5b57");
        StringBuffer buffer = new StringBuffer("caf\u00e9 \u00ff");
        buffer.trimToSize();

        assertSameBytes(new ArrayList<>(List.of(
                new AtomicIntegerArray(new int[] {1, -2, 70_000}),
                new AtomicIntegerArray(0),
                new AtomicLongArray(new long[] {1L << 40, -1}),
                itself,
                buffer,
                trimmed(""),
                trimmed("a\u0100"),
                itself)));
    }

    private static StringBuilder trimmed(String text) {
        StringBuilder builder = new StringBuilder(text);
        builder.trimToSize();
        return builder;
    }

    /** The unused capacity of a builder may contain deleted text, and must not be sent. */
    @Test
    void buildersAreSentWithoutTheirUnusedSpace() {
        for (String text : List.of("", "Ada", "caf\u00e9 \u00ff", "\u0100", "\ud83d\ude00", "x\ude00\ud83d")) {
            StringBuilder cut = new StringBuilder(text + "secret");
            cut.setLength(text.length());
            StringBuffer buffer = new StringBuffer(cut);
            byte[] bytes = written(cut, Integer.MAX_VALUE);

            assertThat(new String(bytes, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
            if (text.equals("\u0100")) {
                assertThat(new String(bytes, StandardCharsets.ISO_8859_1))
                        .as("little-endian on every host")
                        .contains("\u0000\u0001");
            }
            assertThat(Coding.readLite(bytes)).isInstanceOf(StringBuilder.class).hasToString(text);
            assertThat(Coding.readLite(written(buffer, Integer.MAX_VALUE)))
                    .isInstanceOf(StringBuffer.class)
                    .hasToString(text);
        }
    }

    @Test
    void moreDefinitionsThanShortTagsAreWrittenAsByHessianLite() {
        LocalDateTime at = LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4);
        List<Object> values = new ArrayList<>(List.of(new Plain(), new Cents(1), TimeUnit.DAYS, Thread.State.NEW, at));
        Collections.addAll(
                values, at.toLocalDate(), Instant.EPOCH, Duration.ofDays(1), Period.ofDays(1), Year.of(2024));
        Collections.addAll(values, YearMonth.of(2024, 1), MonthDay.of(1, 1), ZoneOffset.UTC, new BigDecimal("1.5"));
        Collections.addAll(values, new BigInteger("10"), new UUID(1, 2), Currency.getInstance("EUR"), Locale.ROOT);
        values.addAll(List.of(new Plain(), new Cents(2), Thread.State.RUNNABLE, LocalTime.MIN, new BigDecimal("2")));
        values.addAll(List.copyOf(values));

        assertSameBytes(values);
    }

    @Test
    void aHeadOfTypesIsShared() {
        assertSameBytes(IntStream.range(0, 40)
                .mapToObj(i -> i % 2 == 0 ? new LinkedList<>(List.of(i)) : new String[i][i % 10])
                .toList());
    }

    /** Writes all graphs with the same writer and the same array. Writing fails for some of the graphs. */
    @Test
    void writerThatSometimesFailsWritesRandomGraphsAsHessianLite() {
        Random random = new Random(5);
        for (int seed = 0; seed < GRAPHS; seed++) {
            Object value = new Graphs(seed, false).next();
            byte[] expected = Coding.writeLite(value);
            if (seed % 5 == 0 && expected.length > 1) {
                int limit = random.nextInt(expected.length - 1);
                assertThatThrownBy(() -> written(value, limit)).isInstanceOf(MessageTooLargeException.class);
            }
            if (seed % 7 == 0) {
                List<Object> broken = new ArrayList<>(Arrays.asList(value, Optional.empty()));
                assertThatThrownBy(() -> written(broken, Integer.MAX_VALUE)).isInstanceOf(SerializationException.class);
            }

            byte[] bytes = written(value, expected.length);

            assertThat(Arrays.equals(bytes, expected)).as("seed %d", seed).isTrue();
        }
    }

    @Test
    void writerAfterAStackOverflowWritesTheBytesOfAFreshOne() {
        List<Object> nested = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            nested = new ArrayList<>(List.of(nested, new ArrayList<>()));
        }
        List<Object> deep = nested;
        assertThatThrownBy(() -> written(deep, Integer.MAX_VALUE)).hasMessageContaining("nested too deeply");

        assertSameBytes(new ArrayList<>(List.of(new Plain(), new LinkedList<>(), new Cents(2))));
    }

    @Test
    void aBeanIsWrittenWithoutGarbage() {
        Plain plain = new Plain();
        plain.text = "a text long enough for the path of long ones, which is one of more than forty-eight units";
        List<Object> beans = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Plain bean = new Plain();
            bean.text = plain.text;
            beans.add(bean);
        }
        int rounds = 2_000;
        for (int i = 0; i < rounds; i++) {
            writeAgain(beans);
        }

        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < rounds; i++) {
            writeAgain(beans);
        }

        // In each bean, only two fields allocate memory when they are written: the character, which becomes a string,
        // and the list, which needs an iterator. The other twelve fields allocate nothing.
        assertThat((THREADS.getCurrentThreadAllocatedBytes() - before) / rounds / beans.size())
                .isLessThan(200);
    }

    private void writeAgain(Object value) {
        buffer.reset(Integer.MAX_VALUE);
        writer.start(buffer);
        writer.writeObject(value);
        writer.finish();
    }
}
