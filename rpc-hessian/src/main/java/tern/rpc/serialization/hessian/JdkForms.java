package tern.rpc.serialization.hessian;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/** The JDK value types that every service may read, keyed by their class names in messages. Immutable. */
final class JdkForms {

    /** Represents a {@code java.lang.Class} that is part of a value, without loading the class. */
    record ClassName(String name) {}

    static final String PACKAGE = "com.alibaba.com.caucho.hessian.io.";

    /**
     * The maximum number of characters in a decimal number. The number is limited because the parsing time grows with
     * the square of the length.
     */
    private static final int MAX_NUMBER = 4_096;

    /**
     * The maximum length of a {@code BigInteger} in 32-bit words; it corresponds to about 10,000 decimal digits.
     * Reading such a number takes linear time.
     */
    private static final int MAX_MAGNITUDE = 1_039;

    /** The script in a locale's string form, which follows {@code _#}. */
    private static final Pattern SCRIPT = Pattern.compile("([A-Za-z]{4})(?:[_-]|$)");

    /**
     * The memory of a calendar and its field arrays in bytes, minus the memory that the reader assumes for any value of
     * a message.
     */
    private static final int CALENDAR_BYTES = 400;

    private static final FormShape CLASS_NAME = FormShape.of(ClassName.class)
            .part("name", String.class)
            .by((parts, reader) -> new ClassName(Objects.requireNonNull((String) parts[0])));

    private static final Map<String, Shape> FORMS = forms();

    private JdkForms() {}

    static @Nullable Shape find(String name, Slot slot) {
        Shape form = FORMS.get(name);
        if (form == null && slot.raw == ClassName.class && name.equals("java.lang.Class")) {
            return CLASS_NAME;
        }
        return form;
    }

    /** Returns the classes whose instances this class creates. */
    static Set<Class<?>> made() {
        return FORMS.values().stream().map(form -> form.type).collect(Collectors.toUnmodifiableSet());
    }

    /** Returns whether this class creates instances of the given class. */
    static boolean isMade(Class<?> type) {
        return FORMS.values().stream().anyMatch(form -> form.type == type);
    }

    private static Map<String, Shape> forms() {
        Map<String, Shape> forms = new HashMap<>(JavaTimeForms.all());
        numbers(forms);
        atomics(forms);
        dates(forms);
        texts(forms);
        collections(forms);
        return Map.copyOf(forms);
    }

    private static void numbers(Map<String, Shape> forms) {
        forms.put(
                "java.math.BigDecimal",
                FormShape.of(BigDecimal.class)
                        .part("value", String.class)
                        .weighing(JdkForms::visits)
                        .by((parts, reader) -> decimal((String) parts[0])));
        forms.put(
                "java.math.BigInteger",
                FormShape.of(BigInteger.class)
                        .part("signum", int.class)
                        .part("mag", int[].class)
                        .weighing((BigInteger number) -> number.bitLength() / Integer.SIZE)
                        .by((parts, reader) -> integer((int) part(parts, 0), (int[]) part(parts, 1))));
    }

    private static BigDecimal decimal(@Nullable String digits) {
        if (digits == null || digits.length() > MAX_NUMBER) {
            throw new SerializationException("a BigDecimal of "
                    + (digits == null ? "nothing" : digits.length() + " characters, limit " + MAX_NUMBER));
        }
        return new BigDecimal(digits);
    }

    /**
     * Returns the cost of comparing a number. Comparing two numbers with different scales requires a multiplication,
     * which takes quadratic time in the number of digits.
     */
    private static long visits(BigDecimal number) {
        long digits =
                // The number of digits is estimated, because computing the exact number takes as long as a comparison.
                number.unscaledValue().bitLength() * 3L / 10;
        return digits * digits / 25;
    }

    private static BigInteger integer(int signum, int[] magnitude) {
        if (magnitude.length > MAX_MAGNITUDE) {
            throw new SerializationException("a BigInteger of " + magnitude.length * Integer.SIZE + " bits, limit "
                    + MAX_MAGNITUDE * Integer.SIZE);
        }
        ByteBuffer bytes = ByteBuffer.allocate(magnitude.length * Integer.BYTES);
        bytes.asIntBuffer().put(magnitude);
        return new BigInteger(signum, bytes.array());
    }

    private static void atomics(Map<String, Shape> forms) {
        forms.put(
                "java.util.concurrent.atomic.AtomicInteger",
                FormShape.of(AtomicInteger.class)
                        .part("value", int.class)
                        .by((parts, reader) -> new AtomicInteger((int) part(parts, 0))));
        forms.put(
                "java.util.concurrent.atomic.AtomicLong",
                FormShape.of(AtomicLong.class)
                        .part("value", long.class)
                        .by((parts, reader) -> new AtomicLong((long) part(parts, 0))));
        forms.put(
                "java.util.concurrent.atomic.AtomicBoolean",
                FormShape.of(AtomicBoolean.class)
                        .part("value", int.class)
                        .by((parts, reader) -> new AtomicBoolean((int) part(parts, 0) != 0)));
        forms.put(
                "java.util.concurrent.atomic.AtomicReference",
                FormShape.of(AtomicReference.class)
                        .part("value", Object.class)
                        .by((parts, reader) -> new AtomicReference<>(parts[0])));
        forms.put(
                "java.util.concurrent.atomic.AtomicIntegerArray",
                FormShape.of(AtomicIntegerArray.class)
                        .part("array", int[].class)
                        .by((parts, reader) -> new AtomicIntegerArray((int[]) part(parts, 0))));
        forms.put(
                "java.util.concurrent.atomic.AtomicLongArray",
                FormShape.of(AtomicLongArray.class)
                        .part("array", long[].class)
                        .by((parts, reader) -> new AtomicLongArray((long[]) part(parts, 0))));
        forms.put(
                "java.util.concurrent.atomic.LongAdder$SerializationProxy",
                FormShape.of(LongAdder.class).part("value", long.class).by((parts, reader) -> {
                    LongAdder adder = new LongAdder();
                    adder.add((long) part(parts, 0));
                    return adder;
                }));
    }

    private static void dates(Map<String, Shape> forms) {
        forms.put(
                "java.sql.Date",
                FormShape.of(java.sql.Date.class)
                        .part("value", Date.class)
                        .by((parts, reader) -> new java.sql.Date(millis(parts[0]))));
        forms.put(
                "java.sql.Time",
                FormShape.of(java.sql.Time.class)
                        .part("value", Date.class)
                        .by((parts, reader) -> new java.sql.Time(millis(parts[0]))));
        forms.put(
                "java.sql.Timestamp",
                FormShape.of(java.sql.Timestamp.class)
                        .part("value", Date.class)
                        .by((parts, reader) -> new java.sql.Timestamp(millis(parts[0]))));
        forms.put(
                PACKAGE + "CalendarHandle",
                FormShape.of(GregorianCalendar.class)
                        .part("date", Date.class)
                        .part("type", ClassName.class)
                        .by((parts, reader) -> {
                            reader.makeRoom(CALENDAR_BYTES);
                            return calendar(millis(parts[0]), (ClassName) parts[1]);
                        }));
    }

    private static long millis(@Nullable Object date) {
        return ((Date) Objects.requireNonNull(date)).getTime();
    }

    private static Calendar calendar(long millis, @Nullable ClassName type) {
        if (type != null && !type.name().equals("java.util.GregorianCalendar")) {
            throw new SerializationException("calendar " + Texts.shortened(type.name())
                    + " may not be read; send a java.util.GregorianCalendar or a java.time.ZonedDateTime");
        }
        GregorianCalendar calendar = new GregorianCalendar();
        calendar.setTimeInMillis(millis);
        return calendar;
    }

    private static void texts(Map<String, Shape> forms) {
        forms.put(
                "java.util.UUID",
                FormShape.of(UUID.class)
                        .part("value", String.class)
                        .part("mostSigBits", long.class)
                        .part("leastSigBits", long.class)
                        .by((parts, reader) -> parts[0] instanceof String text
                                ? UUID.fromString(text)
                                : new UUID((long) part(parts, 1), (long) part(parts, 2))));
        forms.put(
                "java.util.Currency",
                FormShape.of(Currency.class)
                        .part("currencyCode", String.class)
                        .by((parts, reader) -> Currency.getInstance((String) parts[0])));
        forms.put(
                PACKAGE + "LocaleHandle",
                FormShape.of(Locale.class)
                        .part("value", String.class)
                        .by((parts, reader) -> locale((String) part(parts, 0))));
        forms.put(
                "java.net.URI",
                FormShape.of(URI.class)
                        .part("string", String.class)
                        .by((parts, reader) -> URI.create((String) part(parts, 0))));
        FormShape.Builder builder = FormShape.of(StringBuilder.class)
                .part("value", Object.class)
                .part("count", int.class)
                .part("coder", int.class);
        forms.put(
                "java.lang.StringBuilder",
                builder.by((parts, reader) ->
                        new StringBuilder(characters(part(parts, 0), (int) part(parts, 1), (int) part(parts, 2)))));
        FormShape.Builder buffer = FormShape.of(StringBuffer.class)
                .part("value", Object.class)
                .part("count", int.class)
                .part("coder", int.class);
        forms.put(
                "java.lang.StringBuffer",
                buffer.by((parts, reader) ->
                        new StringBuffer(characters(part(parts, 0), (int) part(parts, 1), (int) part(parts, 2)))));
        forms.put(
                "java.lang.StackTraceElement",
                FormShape.of(StackTraceElement.class)
                        .part("classLoaderName", String.class)
                        .part("moduleName", String.class)
                        .part("moduleVersion", String.class)
                        .part("declaringClass", String.class)
                        .part("methodName", String.class)
                        .part("fileName", String.class)
                        .part("lineNumber", int.class)
                        .by((parts, reader) -> new StackTraceElement(
                                (String) parts[0],
                                (String) parts[1],
                                (String) parts[2],
                                Objects.requireNonNullElse((String) parts[3], ""),
                                Objects.requireNonNullElse((String) parts[4], ""),
                                (String) parts[5],
                                (int) part(parts, 6))));
    }

    /** Parses the string form of a locale: {@code language_COUNTRY_variant_#Script_extensions}. */
    private static Locale locale(String text) {
        int mark = text.indexOf("_#");
        String[] parts = (mark < 0 ? text : text.substring(0, mark)).split("_", 3);
        Locale plain = plainLocale(parts);
        if (mark < 0 || plain.toString().equals(text)) { // the constructor adds extensions to th_TH_TH and ja_JP_JP
            return plain;
        }
        Locale.Builder locale = new Locale.Builder().setLanguage(parts[0]);
        locale.setRegion(parts.length > 1 ? parts[1] : "");
        locale.setVariant(parts.length > 2 ? parts[2] : "");
        String extensions = text.substring(mark + 2);
        Matcher script = SCRIPT.matcher(extensions);
        if (script.lookingAt()) {
            locale.setScript(script.group(1));
            extensions = extensions.substring(script.end());
        }
        addExtensions(extensions, locale);
        return locale.build();
    }

    /**
     * Adds the extensions. Each extension begins with a key of one character. The extension with the key x extends to
     * the end of the text.
     */
    private static void addExtensions(String text, Locale.Builder locale) {
        char key = 0;
        StringBuilder value = new StringBuilder();
        for (String part : text.isEmpty() ? new String[0] : text.split("-")) {
            if (part.length() == 1 && key != Locale.PRIVATE_USE_EXTENSION) {
                addExtension(key, value, locale);
                key = part.charAt(0);
                value.setLength(0);
            } else {
                value.append(value.isEmpty() ? "" : "-").append(part);
            }
        }
        addExtension(key, value, locale);
    }

    private static void addExtension(char key, CharSequence value, Locale.Builder locale) {
        if (key != 0) {
            locale.setExtension(key, value.toString());
        }
    }

    // The deprecated constructor is used, because Locale.Builder rejects some old locales, and Locale.of exists only
    // since JDK 19.
    @SuppressWarnings("deprecation")
    private static Locale plainLocale(String[] parts) {
        return new Locale(parts[0], parts.length > 1 ? parts[1] : "", parts.length > 2 ? parts[2] : "");
    }

    /**
     * Returns a string builder's content from its fields. The characters are Latin-1 or UTF-16 bytes, or chars if a
     * JDK before version 9 wrote them.
     */
    private static String characters(Object value, int count, int coder) {
        if (value instanceof String text) {
            return text.substring(0, count);
        }
        byte[] bytes = (byte[]) value;
        return coder == 0
                ? new String(bytes, 0, count, StandardCharsets.ISO_8859_1)
                : new String(bytes, 0, Math.multiplyExact(count, 2), StandardCharsets.UTF_16LE);
    }

    private static void collections(Map<String, Shape> forms) {
        forms.put(
                "java.util.AbstractMap$SimpleEntry",
                FormShape.of(AbstractMap.SimpleEntry.class)
                        .part("key", Object.class)
                        .part("value", Object.class)
                        .by((parts, reader) -> new AbstractMap.SimpleEntry<>(parts[0], parts[1])));
        forms.put(
                "java.util.AbstractMap$SimpleImmutableEntry",
                FormShape.of(AbstractMap.SimpleImmutableEntry.class)
                        .part("key", Object.class)
                        .part("value", Object.class)
                        .by((parts, reader) -> new AbstractMap.SimpleImmutableEntry<>(parts[0], parts[1])));
        forms.put(
                PACKAGE + "BitSetHandle",
                FormShape.of(BitSet.class)
                        .part("words", long[].class)
                        .weighing((BitSet bits) -> bits.length() / Long.SIZE)
                        .by((parts, reader) -> BitSet.valueOf((long[]) part(parts, 0))));
        forms.put(
                PACKAGE + "EnumSetHandler",
                FormShape.of(EnumSet.class)
                        .part("type", ClassName.class)
                        .part("objects", Object[].class)
                        .by((parts, reader) ->
                                enumSet(reader.types().enumClass(((ClassName) part(parts, 0)).name()), (Object[])
                                        part(parts, 1))));
    }

    // The casts are safe, because "type" is always an enum class, and the EnumSet checks that its elements belong to
    // this enum.
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object enumSet(Class<?> type, Object[] constants) {
        EnumSet set = EnumSet.noneOf((Class) type);
        set.addAll((List) Arrays.asList(constants));
        return set;
    }

    private static Object part(@Nullable Object[] parts, int index) {
        return Objects.requireNonNull(parts[index]);
    }
}
