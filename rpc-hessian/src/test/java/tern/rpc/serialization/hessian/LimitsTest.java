package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.SerializationException;

class LimitsTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A record whose hash code visits the objects that it refers to. */
    record Knot(@Nullable Object left, @Nullable Object right) implements Serializable {}

    record Rank(int a, int b, int c, int d, int e, int f, int g, int h) implements Serializable, Comparable<Rank> {
        @Override
        public int compareTo(Rank other) {
            return Integer.compare(a, other.a);
        }
    }

    static class Loose implements Serializable {
        @Nullable
        Object left;

        @Nullable
        Object right;
    }

    interface Limited {
        void take(Knot knot, Loose loose, Rank rank);
    }

    private final Coding coding = Coding.of(Limited.class);

    private static Coding limited(HessianLimits limits) {
        return new Coding(HessianSerializer.builder().limits(limits).build(), Limited.class);
    }

    private static HessianLimits limits(int depth, int values, int classes, int fields, int name) {
        return new HessianLimits(depth, values, classes, fields, name, 4, 1000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "56 07 5b6f626a656374 49 7fffffff 00",
                "56 04 5b696e74 49 7fffffff 00",
                "56 05 5b6c6f6e67 49 00100000 00",
                "58 49 7fffffff",
                "58 49 80000000",
                "58 8f",
                "43 01 61 49 7fffffff",
                "43 01 61 8f",
                "53 ffff 61",
                "52 ffff 61",
                "42 ffff 61",
                "41 ffff 61",
            })
    void aClaimedLengthCostsNothing(String bytes) {
        byte[] message = Coding.bytes(bytes);
        assertRefused(message);
        long before = THREADS.getCurrentThreadAllocatedBytes();

        assertRefused(message);

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(256 << 10);
    }

    /** The message is long enough for each of the announced lists, but not for all nested lists together. */
    @Test
    void claimsInsideEachOtherAreAddedUp() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < 60; i++) {
            bytes.writeBytes(Coding.bytes("56 \"[object\" 49 000f0000"));
        }
        bytes.writeBytes(new byte[1 << 20]);
        long before = THREADS.getCurrentThreadAllocatedBytes();

        assertRefused(bytes.toByteArray());

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(9 << 20);
    }

    private void assertRefused(byte[] message) {
        assertThatThrownBy(() -> coding.read(message)).isInstanceOf(SerializationException.class);
    }

    @Test
    void listsNestedTooDeeplyAreRefusedBeforeTheStackEnds() {
        byte[] bytes = new byte[200_000];
        java.util.Arrays.fill(bytes, (byte) 0x79);

        assertThatThrownBy(() -> coding.read(bytes))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("nested deeper than 64, set by rpc.limits.max-depth (byte ");
    }

    @Test
    void depthCountsListsMapsAndObjects() {
        Coding three = limited(limits(3, 100, 10, 10, 100));

        assertThatNoException().isThrownBy(() -> three.read(Coding.bytes("79 79 79 90")));
        assertThatThrownBy(() -> three.read(Coding.bytes("79 79 48 01 61 78 5a")))
                .hasMessageContaining("nested deeper than 3");
        assertThatThrownBy(() -> three.read(Coding.writeLite(new Knot(new Knot(List.of(List.of()), 1), 2))))
                .hasMessageContaining("nested deeper than 3");
    }

    @Test
    void skippedValuesCountTowardsTheDepth() {
        Coding three = limited(limits(3, 100, 10, 10, 100));
        String unknownField = "43 \"" + Loose.class.getName() + "\" 91 \"gone\" 60 ";

        assertThatNoException().isThrownBy(() -> three.read(Coding.bytes(unknownField + "79 79 90")));
        assertThatThrownBy(() -> three.read(Coding.bytes(unknownField + "79 79 79 90")))
                .hasMessageContaining("nested deeper");
    }

    @Test
    void valuesAreCounted() {
        Coding ten = limited(limits(64, 10, 10, 10, 100));

        assertThatNoException().isThrownBy(() -> ten.read(Coding.bytes("58 99 90 90 90 90 90 90 90 90 90")));
        assertThatThrownBy(() -> ten.read(Coding.bytes("58 9a 90 90 90 90 90 90 90 90 90 90")))
                .hasMessageContaining("more than 10 values, set by rpc.limits.max-values (byte ");
    }

    @Test
    void elementsOfPrimitiveArraysAreNotCounted() {
        Coding ten = limited(limits(64, 10, 10, 10, 100));

        assertThat(ten.read(ten.write(new int[500]), int[].class)).isEqualTo(new int[500]);
    }

    @Test
    void classDefinitionsAreCounted() {
        Coding two = limited(limits(64, 1000, 2, 10, 100));

        assertThatNoException().isThrownBy(() -> two.read(Coding.bytes("43 01 61 90 43 01 62 90 4e")));
        assertThatThrownBy(() -> two.read(Coding.bytes("43 01 61 90 43 01 62 90 43 01 63 90 4e")))
                .hasMessageContaining("more than 2 class definitions");
    }

    @Test
    void fieldsAreCounted() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 01 61 ca 01" + " 01 61".repeat(513))))
                .hasMessageContaining("with 513 fields, limit 512");
    }

    @Test
    void longNamesAreRefused() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"" + "x".repeat(513) + "\" 90 60")))
                .hasMessageContaining("longer than 512 characters");
        assertThatThrownBy(() -> coding.read(Coding.bytes("4d \"" + "x".repeat(513) + "\" 5a")))
                .hasMessageContaining("longer than 512 characters");
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 01 61 91 \"" + "x".repeat(513) + "\" 60 90")))
                .hasMessageContaining("longer than 512 characters");
    }

    @Test
    void setsInsideSetsAreBounded() {
        Object four = Set.of(Set.of(Set.of(Set.of(1))));

        assertThat(coding.through(four, Object.class)).isEqualTo(four);
        assertThatThrownBy(() -> coding.through(Set.of(four), Object.class))
                .hasMessageContaining("sets and map keys nested deeper than 4 (fixed limit)");
        assertThatThrownBy(() -> coding.through(Map.of(four, 1), Object.class))
                .hasMessageContaining("sets and map keys nested deeper than 4");
    }

    @Test
    void keysThatAreNoScalarsAreCounted() {
        assertThatNoException().isThrownBy(() -> coding.through(knots(1000), Object.class));
        assertThatThrownBy(() -> coding.through(knots(1001), Object.class)).hasMessageContaining("more than 1000 keys");
        assertThatNoException()
                .isThrownBy(() ->
                        coding.through(IntStream.range(0, 5000).boxed().collect(Collectors.toSet()), Object.class));
    }

    private static Set<Object> knots(int count) {
        return IntStream.range(0, count).mapToObj(i -> new Knot(i, 0)).collect(Collectors.toCollection(HashSet::new));
    }

    /**
     * Each list contains two references to the previous list, so hashing the last list visits 2 to the power of 60
     * values.
     */
    @Test
    void keyWhoseHashVisitsSharedPartsRepeatedlyIsRefused() {
        StringBuilder bytes = new StringBuilder("58 bf 78");
        for (int i = 1; i < 46; i++) {
            String earlier = " 51 " + Integer.toHexString(0x90 + i);
            bytes.append(" 7a").append(earlier).append(earlier);
        }
        String last = " 51 " + Integer.toHexString(0x90 + 46);

        assertThatThrownBy(() -> coding.read(Coding.bytes(bytes + " 48" + last + " 91 5a" + " 4e".repeat(16))))
                .hasMessageContaining("hashing would take too long");
        assertThatThrownBy(
                        () -> coding.read(Coding.bytes(bytes + " 71 \"java.util.HashSet\"" + last + " 4e".repeat(16))))
                .hasMessageContaining("hashing would take too long");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HashSet", "LinkedHashSet", "TreeSet", "concurrent.ConcurrentSkipListSet"})
    void smallMessageMayTakeOnlyItsPartOfTheSteps(String set) {
        byte[] key = nestedKey(24, set);

        assertThatThrownBy(() -> readPadded(key, 268))
                .hasMessage("keys whose hashing would take too long: more than 661504 steps in a message of 268 bytes,"
                        + " where rpc.limits.max-key-steps allows 67108864 for 131072 bytes and less for smaller"
                        + " messages; keys that refer to the same list, map or object several times take the most"
                        + " steps");
        assertThatThrownBy(() -> readPadded(key, 64 << 10)).hasMessageContaining("more than 34078720 steps");
    }

    @Test
    void largeMessageMayTakeAllSteps() {
        assertThatNoException().isThrownBy(() -> readPadded(nestedKey(22, "HashSet"), 128 << 10));
    }

    @Test
    void smallMessageMayContainKeysWithSharedParts() {
        assertThatNoException().isThrownBy(() -> readPadded(nestedKey(15, "HashSet"), 268));
    }

    /** Returns a set that contains a list. Each level of the list contains two references to the next level. */
    private static byte[] nestedKey(int levels, String set) {
        StringBuilder bytes = new StringBuilder("58 " + Integer.toHexString(0x92 + levels) + " 78");
        for (int level = 1; level <= levels; level++) {
            String next = " 51 " + Integer.toHexString(0x90 + level);
            bytes.append(" 7a").append(next).append(next);
        }
        return Coding.bytes(bytes + " 71 \"java.util." + set + "\" 51 " + Integer.toHexString(0x91 + levels));
    }

    /** Reads the given value from a message that is padded with empty strings to the given size. */
    private void readPadded(byte[] first, int size) {
        coding.start(Arrays.copyOf(first, size)).readObject(ValueType.of(Object.class));
    }

    @Test
    void thousandKeysThatShareALargePartAreRead() {
        List<Integer> shared = IntStream.range(0, 900).boxed().toList();
        Set<Object> keys = IntStream.range(0, 1000)
                .mapToObj(i -> List.of(shared, i))
                .collect(Collectors.toCollection(HashSet::new));

        assertThat(coding.through(keys, Object.class)).isEqualTo(keys);
    }

    @Test
    void keysOfEqualHashThatShareALargePartAreRefused() {
        List<Integer> shared = IntStream.range(0, 900).boxed().toList();
        Set<Object> keys = IntStream.range(0, 1000)
                .mapToObj(i -> List.of(shared, i, -31 * i))
                .collect(Collectors.toCollection(HashSet::new));
        byte[] bytes = coding.write(keys);

        assertThatThrownBy(() -> coding.read(bytes)).hasMessageContaining("hashing would take too long");
    }

    @Test
    void smallListsOfEqualHashAreRefusedIfTheyAreMany() {
        assertThatNoException().isThrownBy(() -> coding.through(listsOfEqualHash(256), Object.class));
        assertThatThrownBy(() -> coding.through(listsOfEqualHash(990), Object.class))
                .hasMessageContaining("hashing would take too long");
    }

    private static Set<Object> listsOfEqualHash(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> List.of("the same text", i, -31 * i))
                .collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    void manySetsOfKeysWithDifferentHashesAreRead() {
        List<Set<Object>> sets =
                IntStream.range(0, 100).mapToObj(i -> knots(1000)).toList();

        assertThatNoException().isThrownBy(() -> coding.through(sets, Object.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"java.util.HashSet", "java.util.TreeSet", "java.util.PriorityQueue"})
    void thousandSmallKeysAreRead(String type) {
        Collection<Object> keys = newCollection(type);
        IntStream.range(0, 1000).forEach(i -> keys.add(new Rank(i, 0, 0, 0, 0, 0, 0, 0)));

        assertThat((Collection<?>) coding.through(keys, Object.class)).hasSize(1000);
    }

    private static Collection<Object> newCollection(String type) {
        return switch (type) {
            case "java.util.HashSet" -> new HashSet<>();
            case "java.util.TreeSet" -> new TreeSet<>();
            default -> new PriorityQueue<>();
        };
    }

    @Test
    void recordsThatShareTheirPartsAreRefusedAsKeysToo() {
        Knot knot = new Knot(1, 2);
        for (int i = 0; i < 40; i++) {
            knot = new Knot(knot, knot);
        }
        byte[] asValue = coding.write(knot);
        byte[] asKey = coding.writeAsKey(knot);

        assertThatNoException().isThrownBy(() -> coding.read(asValue));
        assertThatThrownBy(() -> coding.read(asKey)).hasMessageContaining("hashing would take too long");
    }

    @Test
    void objectsHashedByIdentityMayShareTheirPartsAndBeKeys() {
        Loose loose = new Loose();
        for (int i = 0; i < 40; i++) {
            Loose outer = new Loose();
            outer.left = loose;
            outer.right = loose;
            loose = outer;
        }
        byte[] bytes = coding.writeAsKey(loose);

        assertThatNoException().isThrownBy(() -> coding.read(bytes));
    }

    @Test
    void aHashtableTakesFewKeysAsItSearchesThemOneByOne() {
        Map<String, Integer> many = new HashMap<>();
        IntStream.range(0, 1001).forEach(i -> many.put("key" + i, i));

        assertThatThrownBy(() -> coding.through(new Hashtable<>(many), Object.class))
                .hasMessageContaining("more than 1000 keys");
        assertThat(coding.through(many, Object.class)).isEqualTo(many);
    }

    @Test
    void longNumbersAreRefused() {
        assertThatThrownBy(() -> coding.read(
                        Coding.bytes("43 \"java.math.BigDecimal\" 91 \"value\" 60 53 4e20" + "31".repeat(20_000))))
                .hasMessageContaining("BigDecimal of 20000 characters, limit 4096");
    }

    @Test
    void memoryForPositionsDoesNotDependOnNesting() {
        Slot any = Slot.of(Object.class);

        for (Slot inside : List.of(any.element(), any.key(), any.value())) {
            assertThat(inside.element()).isSameAs(inside);
            assertThat(inside.key()).isSameAs(inside);
            assertThat(inside.value()).isSameAs(inside);
            assertThat(inside.elementOf(Object[].class)).isSameAs(inside);
        }
        assertThat(any.element()).hasToString("java.lang.Object, element");
    }

    @Test
    void exceptionsAreCountedAndLongChainsCutOff() {
        String one = "43 \"java.lang.IllegalStateException\" 90 ";

        Type failures = ServiceDescriptor.of(Failing.class)
                .overloads("failures")
                .get(0)
                .result()
                .generic();

        assertThatThrownBy(() ->
                        Coding.of(Failing.class).read(Coding.bytes("57 " + one + "60 ".repeat(600) + "5a"), failures))
                .hasMessageContaining("more than 512 exceptions");
        assertThat(coding.readThrowable(
                        Coding.bytes("43 \"java.lang.IllegalStateException\" 91 \"suppressedExceptions\" 60 57 "
                                + "60 4e ".repeat(600) + "5a")))
                .isInstanceOf(IllegalStateException.class)
                .satisfies(read -> assertThat(read.getSuppressed()).hasSize(8));
    }

    interface Failing {
        List<IllegalStateException> failures();
    }

    @Test
    void aLargeIntegerIsRefused() {
        assertThatThrownBy(() ->
                        coding.read(Coding.bytes("43 \"java.math.BigInteger\" 92 \"signum\" \"mag\" 60 91 55 \"[int\""
                                + " 91".repeat(2_000) + " 5a")))
                .hasMessageContaining("a BigInteger of 64000 bits, limit 33248");
    }

    @Test
    void limitsOutOfRangeAreRefusedByName() {
        assertThatThrownBy(() -> limits(513, 1, 1, 1, 1)).hasMessage("depth is 513; expected 1 to 512");
        assertThatThrownBy(() -> limits(1, 0, 1, 1, 1)).hasMessageStartingWith("values is 0; expected 1 to");
    }
}
