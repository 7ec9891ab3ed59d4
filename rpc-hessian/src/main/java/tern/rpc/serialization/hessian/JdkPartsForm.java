package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.lang.reflect.Field;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.AbstractMap.SimpleEntry;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Arrays;
import java.util.Currency;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes instances of JDK classes with the names of their private fields. The values come from public methods, because
 * the fields are not accessible. hessian-lite reads the fields with {@code sun.misc.Unsafe} instead. Thread-safe.
 */
final class JdkPartsForm implements WireForm {

    private static final Map<Class<?>, Map<String, Function<Object, @Nullable Object>>> PARTS = Map.ofEntries(
            Map.entry(AtomicBoolean.class, Map.of("value", value -> ((AtomicBoolean) value).get() ? 1 : 0)),
            Map.entry(AtomicInteger.class, Map.of("value", value -> ((AtomicInteger) value).get())),
            Map.entry(AtomicLong.class, Map.of("value", value -> ((AtomicLong) value).get())),
            Map.entry(AtomicReference.class, Map.of("value", value -> ((AtomicReference<?>) value).get())),
            Map.entry(AtomicIntegerArray.class, Map.of("array", value -> ints((AtomicIntegerArray) value))),
            Map.entry(AtomicLongArray.class, Map.of("array", value -> longs((AtomicLongArray) value))),
            Map.entry(Currency.class, Map.of("currencyCode", value -> ((Currency) value).getCurrencyCode())),
            Map.entry(StackTraceElement.class, frame()),
            Map.entry(SimpleEntry.class, entry()),
            Map.entry(SimpleImmutableEntry.class, entry()),
            Map.entry(
                    BigInteger.class,
                    Map.of(
                            "signum", value -> ((BigInteger) value).signum(),
                            "mag", value -> magnitude((BigInteger) value),
                            // The remaining fields of BigInteger contain cached results. The value 0 means that the
                            // result has not been computed yet. JDK 17 has the fields from bitCountPlusOne to
                            // firstNonzeroIntNumPlusTwo.
                            "bitCountPlusOne", value -> 0,
                            "bitLengthPlusOne", value -> 0,
                            "lowestSetBitPlusTwo", value -> 0,
                            "firstNonzeroIntNumPlusTwo", value -> 0,
                            // In JDK 25, BigInteger also has the fields magBitLengthPlusOne and
                            // numberOfTrailingZeroIntsPlusTwo.
                            "magBitLengthPlusOne", value -> 0,
                            "numberOfTrailingZeroIntsPlusTwo", value -> 0)));

    private final ClassDefinition definition;
    private final List<Function<Object, @Nullable Object>> parts;

    private JdkPartsForm(ClassDefinition definition, List<Function<Object, @Nullable Object>> parts) {
        this.definition = definition;
        this.parts = parts;
    }

    private static Map<String, Function<Object, @Nullable Object>> entry() {
        return Map.of(
                "key",
                value -> ((Map.Entry<?, ?>) value).getKey(),
                "value",
                value -> ((Map.Entry<?, ?>) value).getValue());
    }

    private static Map<String, Function<Object, @Nullable Object>> frame() {
        return Map.of(
                "classLoaderName", frame -> ((StackTraceElement) frame).getClassLoaderName(),
                "moduleName", frame -> ((StackTraceElement) frame).getModuleName(),
                "moduleVersion", frame -> ((StackTraceElement) frame).getModuleVersion(),
                "declaringClass", frame -> ((StackTraceElement) frame).getClassName(),
                "methodName", frame -> ((StackTraceElement) frame).getMethodName(),
                "fileName", frame -> ((StackTraceElement) frame).getFileName(),
                "lineNumber", frame -> ((StackTraceElement) frame).getLineNumber(),
                "format", frame -> format((StackTraceElement) frame));
    }

    /**
     * Returns the parts that the string form of a stack frame omits, as a bit mask: 1 for the class loader, 2 for the
     * module version.
     */
    private static int format(StackTraceElement frame) {
        String text = frame.toString();
        String loader = frame.getClassLoaderName();
        String version = frame.getModuleVersion();
        boolean noLoader = loader != null && !loader.isEmpty() && !text.startsWith(loader + "/");
        boolean noVersion = version != null && !version.isEmpty() && !text.contains("@" + version + "/");
        return (noLoader ? 1 : 0) + (noVersion ? 2 : 0);
    }

    /**
     * Returns the {@link WireForm} that writes instances of the class. Returns null if the class is not supported or
     * does not have the expected fields in the running JDK.
     */
    static @Nullable WireForm of(Class<?> type) {
        Map<String, Function<Object, @Nullable Object>> known = PARTS.get(type);
        if (known == null) {
            return null;
        }
        List<String> fields = BeanShape.serializedFields(type, Object.class).stream()
                .map(Field::getName)
                .toList();
        return known.keySet().containsAll(fields)
                ? new JdkPartsForm(
                        new ClassDefinition(type.getName(), fields),
                        fields.stream().map(known::get).toList())
                : null;
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        if (out.addRef(value)) {
            return;
        }
        out.begin(definition);
        for (Function<Object, @Nullable Object> part : parts) {
            out.writeObject(part.apply(value));
        }
    }

    private static int[] ints(AtomicIntegerArray array) {
        int[] ints = new int[array.length()];
        Arrays.setAll(ints, array::get);
        return ints;
    }

    private static long[] longs(AtomicLongArray array) {
        long[] longs = new long[array.length()];
        Arrays.setAll(longs, array::get);
        return longs;
    }

    /** Returns the absolute value as ints, most significant first. The first int is not 0. */
    private static int[] magnitude(BigInteger value) {
        // bitLength() caches its result in the number. To leave the original number unchanged, bitLength() is called on
        // a new object.
        BigInteger negated = value.negate();
        BigInteger absolute = value.signum() < 0 ? negated : negated.negate();
        int[] ints = new int[(absolute.bitLength() + Integer.SIZE - 1) / Integer.SIZE];
        byte[] bytes = absolute.toByteArray();
        ByteBuffer padded = ByteBuffer.allocate(Math.max(ints.length * Integer.BYTES, bytes.length) + Integer.BYTES);
        padded.position(padded.capacity() - bytes.length);
        padded.put(bytes).position(padded.capacity() - ints.length * Integer.BYTES);
        padded.asIntBuffer().get(ints);
        return ints;
    }
}
