package tern.rpc.serialization.hessian;

import java.io.ByteArrayOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Hessian messages that are cheap to send and expensive to read. The messages contain only classes that every service
 * accepts and classes declared by {@link Target}. Each message consists of one value.
 */
public final class Bombs {

    /** A service with the parameter and result types of an ordinary service. */
    public interface Target {
        @Nullable
        Object take(
                @Nullable Object any,
                @Nullable Wide wide,
                @Nullable Pair pair,
                @Nullable Ranked ranked,
                @Nullable Failure failure,
                @Nullable Packed packed)
                throws Failure;
    }

    /** A class with many fields. A sender can create an instance without sending any field. */
    @SuppressWarnings("unused") // The fields are unused; they only make objects large.
    public static class Wide implements Serializable {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
        long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
    }

    /** A class that computes its hash code from its components. */
    public record Pair(@Nullable Object left, @Nullable Object right) implements Serializable {}

    /** A class whose instances are compared by their components. */
    public record Ranked(@Nullable Ranked low, @Nullable Ranked high, int rank)
            implements Serializable, Comparable<Ranked> {

        @Override
        public int compareTo(Ranked other) {
            int first = compare(low, other.low);
            int second = compare(high, other.high);
            return first != 0 ? first : second != 0 ? second : Integer.compare(rank, other.rank);
        }

        private static int compare(@Nullable Ranked one, @Nullable Ranked other) {
            if (one == null || other == null) {
                return (one == null ? 0 : 1) - (other == null ? 0 : 1);
            }
            return one.compareTo(other);
        }
    }

    /** A class whose instances compute their hash codes from the elements of their arrays. */
    public static class Packed implements Serializable {
        int @Nullable [] data;

        @Override
        public int hashCode() {
            return java.util.Arrays.hashCode(data);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Packed packed && java.util.Arrays.equals(data, packed.data);
        }
    }

    public static class Failure extends Exception {}

    private static final List<String> LISTS = List.of(
            "java.util.ArrayList",
            "java.util.LinkedList",
            "java.util.Vector",
            "java.util.Stack",
            "java.util.ArrayDeque",
            "java.util.PriorityQueue",
            "java.util.HashSet",
            "java.util.LinkedHashSet",
            "java.util.TreeSet",
            "java.util.concurrent.ConcurrentSkipListSet",
            "java.util.concurrent.ConcurrentLinkedQueue",
            "java.util.concurrent.ConcurrentLinkedDeque",
            "java.util.concurrent.LinkedBlockingQueue",
            "java.util.concurrent.LinkedBlockingDeque",
            "java.util.concurrent.LinkedTransferQueue",
            "java.util.concurrent.PriorityBlockingQueue",
            "java.util.concurrent.CopyOnWriteArrayList",
            "java.util.concurrent.CopyOnWriteArraySet",
            "java.util.concurrent.ConcurrentHashMap$KeySetView",
            "java.util.Collections$EmptyList",
            "[object",
            "[long",
            "[string",
            "[[[[[[[[[[[[[[[object",
            "[java.math.BigDecimal");

    private static final List<String> MAPS = List.of(
            "java.util.HashMap",
            "java.util.LinkedHashMap",
            "java.util.TreeMap",
            "java.util.Hashtable",
            "java.util.Properties",
            "java.util.IdentityHashMap",
            "java.util.concurrent.ConcurrentHashMap",
            "java.util.concurrent.ConcurrentSkipListMap");

    private Bombs() {}

    /** Returns all bombs by name. Each is at most {@code size} bytes long. */
    public static Map<String, byte[]> all(int size) {
        Map<String, byte[]> bombs = new LinkedHashMap<>();
        bombs.put("sets in sets, each twice in each", sets(30));
        bombs.put("maps as keys of maps, each twice in each", maps(40));
        bombs.put("records in records as key, each twice", pairs(40, true));
        bombs.put("deep lists", Bytes.of().repeat(size, 0x79).array());
        bombs.put("deep maps", Bytes.of().repeat(size, 'H').array());
        bombs.put(
                "claimed list",
                Bytes.of().add('X', 'I').fourBytes(Integer.MAX_VALUE).array());
        bombs.put(
                "claimed array",
                Bytes.of()
                        .add('V')
                        .text("[object")
                        .add('I')
                        .fourBytes(0x7fff_ffff)
                        .array());
        bombs.put("claims inside claims", claims(size));
        bombs.put("strings of equal hash as keys", equalStrings(size, "java.util.HashMap"));
        bombs.put("strings of equal hash in a set", equalStringSet(size));
        bombs.put("strings of equal hash in a hashtable", equalStrings(size, "java.util.Hashtable"));
        bombs.put("strings of equal hash in properties", equalStrings(size, "java.util.Properties"));
        bombs.put("numbers of equal hash as keys", equalNumbers(size));
        bombs.put("numbers of many digits", longNumbers(size, 9_999));
        bombs.put("numbers of a hundred digits", longNumbers(size, 100));
        for (String sorted : List.of(
                "java.util.TreeSet",
                "java.util.PriorityQueue",
                "java.util.concurrent.ConcurrentSkipListSet",
                "java.util.concurrent.PriorityBlockingQueue")) {
            bombs.put("two long numbers compared again and again in a " + sorted, comparedNumbers(size, sorted));
            bombs.put("trees compared in a " + sorted, comparedTrees(sorted));
        }
        bombs.put("one long number hashed again and again", hashedAgain(size, longNumber(9_999)));
        bombs.put("one set of bits hashed again and again", hashedAgain(size, bits(size / 2)));
        bombs.put("one array hashed again and again", hashedAgain(size, packed(size / 2)));
        bombs.put("exceptions without fields", instances(size, Failure.class.getName()));
        bombs.put("exceptions of the JDK without fields", instances(size, "java.lang.IllegalStateException"));
        bombs.put("objects without their fields", instances(size, Wide.class.getName()));
        bombs.put("records without their components", instances(size, Pair.class.getName()));
        bombs.put("names of classes that do not exist", unknownClasses(size, "com.nowhere.Class"));
        bombs.put("names of classes of the own package", unknownClasses(size, Bombs.class.getPackageName() + ".Class"));
        bombs.put(
                "a list that is its own key",
                Bytes.of().add('H', 0x79, 'Q', 0x91, 0x90, 'Z').array());
        bombs.put(
                "a map that is its own key",
                Bytes.of().add('H', 'Q', 0x90, 0x90, 'Z').array());
        bombs.put("text in chunks of nothing", chunks(size));
        bombs.put(
                "binary in chunks of nothing",
                Bytes.of().fill(size, 'A', 0, 0).add(0x20).array());
        bombs.put("values of fields that do not exist", lostFields(size));
        bombs.put("calendars", calendars(size));
        bombs.put("points of time", times(size));
        for (String type : LISTS) {
            bombs.put("empty lists of type " + type, empties(size, type));
            bombs.put("smallest lists of type " + type, smallLists(size, type));
        }
        for (String type : MAPS) {
            bombs.put("empty maps of type " + type, emptyMaps(size, type));
            bombs.put("entries of a map of type " + type, entries(size, type));
        }
        bombs.put(
                "empty untyped lists",
                Bytes.of().add('W').fill(size, 0x78).add('Z').array());
        bombs.put(
                "empty untyped maps",
                Bytes.of().add('W').fill(size, 'H', 'Z').add('Z').array());
        bombs.put("nulls", Bytes.of().add('W').fill(size, 'N').add('Z').array());
        bombs.put("small texts", Bytes.of().add('W').fill(size, 1, 'a').add('Z').array());
        bombs.put(
                "dates",
                Bytes.of().add('W').fill(size, 'K', 0, 0, 0, 0).add('Z').array());
        return bombs;
    }

    /**
     * Returns bombs with special keys. The keys have equal hash codes, have equal sort positions, or become more
     * expensive to hash after they have been read.
     */
    public static Map<String, byte[]> keys(int size) {
        Map<String, byte[]> bombs = new LinkedHashMap<>();
        for (String type : MAPS) {
            bombs.put("texts and longs of equal hash, keys of a " + type, mixedKeys(size, 'M', type));
        }
        for (String type : LISTS) {
            if (type.contains("Set")) {
                bombs.put("texts and longs of equal hash, elements of a " + type, mixedKeys(size, 'U', type));
                bombs.put("times of equal hash, elements of a " + type, equalTimes(size, type, 0));
                bombs.put("times of equal hash and then texts in a " + type, equalTimes(size, type, 1));
                bombs.put("times of equal hash and records in a " + type, equalTimes(size, type, 2));
            }
        }
        bombs.put("a list that is not complete hashed again and again", openList(size, false));
        bombs.put("a list that refers to one that is not complete hashed again and again", openList(size, true));
        bombs.put("lists that refer to ones that are not complete, in a chain", openChain(size));
        bombs.put("tables each of which reaches all others", tables(16));
        bombs.put("long texts compared again and again", comparedTexts(size));
        return bombs;
    }

    /**
     * Returns a map or set whose keys have equal hash codes and alternating classes: two longs, a string, and so on.
     */
    private static byte[] mixedKeys(int size, int tag, String type) {
        Bytes bytes = Bytes.of().add(tag).text(type);
        int hash = equalHash(0).hashCode();
        for (int i = 0; bytes.size() < size; i++) {
            if (i % 3 == 2) {
                bytes.text(equalHash(i));
            } else {
                bytes.add('L').fourBytes(i).fourBytes(i ^ hash);
            }
            if (tag == 'M') {
                bytes.add(0x90);
            }
        }
        return bytes.add('Z').array();
    }

    /**
     * Returns a map or set of times with equal hash codes. A hash table cannot order Timestamps in a bucket, because
     * Timestamp implements Comparable for Date, not for itself.
     */
    private static byte[] equalTimes(int size, String type, int others) {
        Bytes bytes = Bytes.of().definition("java.sql.Timestamp", "value").definition(Pair.class.getName(), "left");
        bytes.add('U').text(type);
        int hash = equalHash(0).hashCode();
        for (int i = 0; bytes.size() < size; i++) {
            if (others == 1 && i % 2 == 1) {
                bytes.text(equalHash(i));
            } else if (others == 2 && bytes.size() > size - 12_000 && i % 2 == 1) {
                bytes.add(0x61).text(equalHash(i));
            } else if (others == 0) {
                bytes.add(0x60, 'J').fourBytes(i).fourBytes(i ^ hash);
            } else {
                bytes.add('L').fourBytes(i).fourBytes(i ^ hash * (others == 2 ? 31 : 1));
            }
        }
        return bytes.add('Z').array();
    }

    /**
     * Returns a list with elements that refer to the list. The list is therefore hashed repeatedly while it is still
     * incomplete. The reader does not detect the recursion, because the list contains an array, which is hashed by
     * identity.
     */
    private static byte[] openList(int size, boolean through) {
        Bytes bytes = Bytes.of().add('W', 'V').text("[object").add(0x91, 0x79).reference(0);
        bytes.repeat(size / 2, 0x90);
        while (bytes.size() < size) {
            bytes.add('V').integer(0).add(0x91);
            bytes.add('H').reference(through ? 2 : 0).add(0x90, 'Z');
        }
        return bytes.add('Z').array();
    }

    /** Returns four nested lists. Each inner list refers to its enclosing list a hundred times. */
    private static byte[] openChain(int size) {
        Bytes bytes = Bytes.of();
        int outer = -1;
        int number = 0;
        for (int level = 0; level < 4; level++) {
            bytes.add('W');
            int own = number++;
            if (level > 0) {
                bytes.list(100);
                number++;
                for (int i = 0; i < 100; i++) {
                    bytes.reference(outer);
                }
            }
            outer = own;
            bytes.add('V').text("[object").add(0x91);
            number++;
        }
        // The innermost array contains this list of 100 references to the innermost of the four lists. Each level
        // multiplies the number of visited values by about 100.
        bytes.list(100);
        int last = number++;
        for (int i = 0; i < 100; i++) {
            bytes.reference(outer);
        }
        bytes.add('Z');
        bytes.add('Z').add('Z');
        bytes.repeat(1_000, 0x90);
        bytes.add('H').reference(last).add(0x90, 'Z');
        return bytes.fill(size / 2, 0x90).add('Z').array();
    }

    private static byte[] tables(int count) {
        Bytes bytes = Bytes.of().add('W');
        for (int table = 1; table <= count; table++) {
            bytes.add('M').text("java.util.Hashtable");
            for (int outer = 1; outer < table; outer++) {
                bytes.add(0x90 + outer).reference(outer);
            }
            bytes.add(0x90 + table);
        }
        bytes.add(0x90, 'Z');
        for (int table = count; table > 1; table--) {
            for (int inner = count; inner > table; inner--) {
                bytes.add(0x90 + inner).reference(inner);
            }
            bytes.add('Z');
        }
        return bytes.add('H').reference(1).add(0x90, 'Z', 'Z').array();
    }

    private static byte[] comparedTexts(int size) {
        Bytes bytes = Bytes.of().add('W').definition(Pair.class.getName(), "left");
        for (int i = 0; i < 2; i++) {
            bytes.add(0x60);
            for (int chunk = 0; chunk < size / 4 / 30_000; chunk++) {
                bytes.add('R', 30_000 >> 8, 30_000 & 0xff).repeat(30_000, 'a');
            }
            bytes.add(0);
        }
        bytes.add(0x70 + 2).text("java.util.HashSet").reference(1).reference(2);
        while (bytes.size() < size) {
            bytes.add(0x70 + 2, 0x90).reference(1).reference(2);
        }
        return bytes.add('Z').array();
    }

    /** Returns a random value that combines parts of the bombs, with many small values and many references. */
    public static byte[] random(long seed, int size) {
        Random random = new Random(seed);
        Bytes bytes = Bytes.of();
        int[] references = {0};
        bytes.add('W');
        references[0]++;
        List<String> named = new ArrayList<>();
        while (bytes.size() < size) {
            any(bytes, random, references, named, 1 + random.nextInt(6), size);
        }
        bytes.add('Z');
        return bytes.array();
    }

    private static void any(Bytes bytes, Random random, int[] references, List<String> named, int depth, int size) {
        switch (depth == 0 || bytes.size() > size ? 6 + random.nextInt(4) : random.nextInt(10)) {
            case 0, 1, 2 -> {
                String type = LISTS.get(random.nextInt(LISTS.size()));
                bytes.add('U');
                type(bytes, named, type);
                references[0]++;
                some(bytes, random, references, named, depth, size, false);
            }
            case 3, 4 -> {
                bytes.add('M');
                type(bytes, named, MAPS.get(random.nextInt(MAPS.size())));
                references[0]++;
                some(bytes, random, references, named, depth, size, true);
            }
            case 5 -> {
                bytes.add('W');
                references[0]++;
                some(bytes, random, references, named, depth, size, false);
            }
            case 6, 7 -> bytes.add('Q').integer(random.nextInt(references[0]));
            case 8 -> bytes.add(2, 'a' + random.nextInt(3), 'A' + random.nextInt(3));
            default -> bytes.add(0x90 + random.nextInt(16));
        }
    }

    private static void some(
            Bytes bytes, Random random, int[] references, List<String> named, int depth, int size, boolean pairs) {
        int count = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(4);
        for (int i = 0; i < count && bytes.size() <= size; i++) {
            any(bytes, random, references, named, depth - 1, size);
            if (pairs) {
                any(bytes, random, references, named, 0, size);
            }
        }
        bytes.add('Z');
    }

    private static void type(Bytes bytes, List<String> named, String type) {
        int known = named.indexOf(type);
        if (known >= 0) {
            bytes.integer(known);
        } else {
            named.add(type);
            bytes.text(type);
        }
    }

    /**
     * Returns nested sets. Nested sets are a well-known bomb for Java serialization. In Hessian, too, the message for
     * nested sets is small.
     */
    private static byte[] sets(int levels) {
        Set<Object> root = new HashSet<>();
        Set<Object> one = root;
        Set<Object> two = new HashSet<>();
        for (int i = 0; i < levels; i++) {
            Set<Object> left = new HashSet<>();
            Set<Object> right = new HashSet<>();
            left.add("foo");
            one.add(left);
            one.add(right);
            two.add(left);
            two.add(right);
            one = left;
            two = right;
        }
        return Coding.writeLite(root);
    }

    private static byte[] maps(int levels) {
        Bytes bytes = Bytes.of().list(levels + 1).add('H', 'Z');
        for (int i = 1; i <= levels; i++) {
            bytes.add('H').reference(i).add(0x90);
            bytes.list(1).reference(i).add(0x91).add('Z');
        }
        return bytes.array();
    }

    private static byte[] pairs(int levels, boolean asKey) {
        Bytes bytes = Bytes.of().list(levels + 1).definition(Pair.class.getName(), "left", "right");
        bytes.add(0x60, 'N', 'N');
        for (int i = 1; i < levels; i++) {
            bytes.add(0x60).reference(i).reference(i);
        }
        bytes.add('H');
        if (asKey) {
            bytes.reference(levels).add(0x90);
        }
        return bytes.add('Z').array();
    }

    private static byte[] claims(int size) {
        Bytes bytes = Bytes.of();
        for (int i = 0; i < 60; i++) {
            bytes.add('V').text("[object").add('I').fourBytes(size - 1_000);
        }
        return bytes.repeat(size, 'N').array();
    }

    private static String equalHash(int number) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < 18; bit++) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    private static byte[] equalStrings(int size, String type) {
        Bytes bytes = Bytes.of().add('M').text(type);
        for (int i = 0; bytes.size() < size && i < 1 << 18; i++) {
            bytes.text(equalHash(i));
            bytes.text("v");
        }
        return bytes.add('Z').array();
    }

    private static byte[] equalStringSet(int size) {
        Bytes bytes = Bytes.of().add('U').text("java.util.HashSet");
        for (int i = 0; bytes.size() < size && i < 1 << 18; i++) {
            bytes.text(equalHash(i));
        }
        return bytes.add('Z').array();
    }

    /**
     * Returns a map whose keys are decimals with equal hash codes. The hash code is 31 times the unscaled value plus
     * the scale.
     */
    private static byte[] equalNumbers(int size) {
        Bytes bytes = Bytes.of().add('U').text("java.util.HashSet").definition("java.math.BigDecimal", "value");
        for (int i = 1; bytes.size() < size; i++) {
            bytes.add(0x60).text(i + "E" + 31L * i);
        }
        return bytes.add('Z').array();
    }

    private static byte[] longNumbers(int size, int digits) {
        Bytes bytes = Bytes.of().add('U').text("java.util.TreeSet").definition("java.math.BigDecimal", "value");
        for (int i = 1; bytes.size() < size; i++) {
            String text = "9".repeat(digits - i % 7) + "E" + (i % 7);
            bytes.add(0x60).longText(text);
        }
        return bytes.add('Z').array();
    }

    private static byte[] longNumber(int digits) {
        return Bytes.of()
                .definition("java.math.BigDecimal", "value")
                .add(0x60)
                .longText("9".repeat(digits))
                .array();
    }

    private static byte[] comparedNumbers(int size, String type) {
        Bytes bytes = Bytes.of().add('W').definition("java.math.BigDecimal", "value");
        bytes.add(0x60).longText("1" + "0".repeat(9_990)).add(0x60).text("1E9990");
        bytes.add('U').text(type);
        for (int i = 0; bytes.size() < size; i++) {
            bytes.reference(1 + i % 2);
        }
        return bytes.add('Z', 'Z').array();
    }

    private static byte[] comparedTrees(String type) {
        Bytes bytes = Bytes.of().add('W').definition(Ranked.class.getName(), "low", "high", "rank");
        for (int tree = 0; tree < 2; tree++) {
            bytes.add(0x60, 'N', 'N', 0x90);
            for (int i = 1; i < 40; i++) {
                bytes.add(0x60)
                        .reference(40 * tree + i)
                        .reference(40 * tree + i)
                        .add(0x90);
            }
        }
        return bytes.add('U')
                .text(type)
                .reference(40)
                .reference(80)
                .add('Z', 'Z')
                .array();
    }

    private static byte[] bits(int words) {
        return Bytes.of()
                .definition("com.alibaba.com.caucho.hessian.io.BitSetHandle", "words")
                .add(0x60, 'U')
                .text("[long")
                .repeat(words, 0xe1)
                .add('Z')
                .array();
    }

    private static byte[] packed(int length) {
        return Bytes.of()
                .definition(Packed.class.getName(), "data")
                .add(0x60, 'U')
                .text("[int")
                .repeat(length, 0x91)
                .add('Z')
                .array();
    }

    /** Returns a map whose key is a list with many references to one value. */
    private static byte[] hashedAgain(int size, byte[] value) {
        Bytes bytes = Bytes.of().add('W').add(value).add('H', 'W');
        while (bytes.size() < size) {
            bytes.reference(1);
        }
        return bytes.add('Z', 0x90, 'Z', 'Z').array();
    }

    private static byte[] instances(int size, String type) {
        return Bytes.of().add('W').definition(type).fill(size, 0x60).add('Z').array();
    }

    private static byte[] unknownClasses(int size, String prefix) {
        Bytes bytes = Bytes.of().add('W').definition(Failure.class.getName(), "gone");
        for (int i = 1; bytes.size() < size; i++) {
            bytes.add(0x60).definition(prefix + i).add('O').integer(i);
        }
        return bytes.add('Z').array();
    }

    private static byte[] chunks(int size) {
        return Bytes.of().fill(size, 'R', 0, 0).add(0).array();
    }

    private static byte[] lostFields(int size) {
        Bytes bytes = Bytes.of()
                .add('W')
                .definition(Pair.class.getName(), "gone")
                .add(0x60, 'W')
                .fill(size / 2, 0x78);
        bytes.add('Z');
        for (int i = 3; bytes.size() < size; i++) {
            bytes.reference(i);
        }
        return bytes.add('Z').array();
    }

    private static byte[] calendars(int size) {
        return Bytes.of()
                .add('W')
                .definition("com.alibaba.com.caucho.hessian.io.CalendarHandle", "date")
                .fill(size, 0x60, 'K', 0, 0, 0, 0)
                .add('Z')
                .array();
    }

    private static byte[] times(int size) {
        return Bytes.of()
                .add('W')
                .definition("com.alibaba.com.caucho.hessian.io.java8.InstantHandle", "seconds", "nanos")
                .fill(size, 0x60, 0xe1, 0x91)
                .add('Z')
                .array();
    }

    private static byte[] empties(int size, String type) {
        return Bytes.of()
                .add('W', 0x70)
                .text(type)
                .fill(size, 0x70, 0x90)
                .add('Z')
                .array();
    }

    private static byte[] smallLists(int size, String type) {
        return Bytes.of()
                .add('W', 0x70)
                .text(type)
                .fill(size, 'U', 0x90, 'N', 'Z')
                .add('Z')
                .array();
    }

    private static byte[] emptyMaps(int size, String type) {
        return Bytes.of()
                .add('W', 'M')
                .text(type)
                .add('Z')
                .fill(size, 'M', 0x90, 'Z')
                .add('Z')
                .array();
    }

    private static byte[] entries(int size, String type) {
        Bytes bytes = Bytes.of().add('M').text(type);
        for (int i = 0; bytes.size() < size; i++) {
            bytes.text(Integer.toString(i, 36));
            bytes.add(0);
        }
        return bytes.add('Z').array();
    }

    /** Writes Hessian tokens without any checks. */
    private static final class Bytes {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        static Bytes of() {
            return new Bytes();
        }

        int size() {
            return bytes.size();
        }

        byte[] array() {
            return bytes.toByteArray();
        }

        Bytes add(int... some) {
            for (int one : some) {
                bytes.write(one);
            }
            return this;
        }

        Bytes add(byte[] some) {
            bytes.writeBytes(some);
            return this;
        }

        Bytes repeat(int times, int one) {
            byte[] many = new byte[times];
            java.util.Arrays.fill(many, (byte) one);
            return add(many);
        }

        /** Repeats the bytes {@code some} until the message has {@code until} bytes. */
        Bytes fill(int until, int... some) {
            while (bytes.size() < until) {
                add(some);
            }
            return this;
        }

        Bytes text(String ascii) {
            if (ascii.length() > 0x1f) {
                bytes.write(0x30 + (ascii.length() >> 8));
            }
            bytes.write(ascii.length());
            bytes.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
            return this;
        }

        Bytes longText(String ascii) {
            add('S', ascii.length() >> 8, ascii.length());
            bytes.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
            return this;
        }

        Bytes fourBytes(int value) {
            return add(value >> 24, value >> 16, value >> 8, value);
        }

        Bytes integer(int value) {
            if (value < 0x30) {
                return add(0x90 + value);
            }
            return value < 0x800
                    ? add(0xc8 + (value >> 8), value)
                    : value < 0x40000 ? add(0xd4 + (value >> 16), value >> 8, value) : add('I').fourBytes(value);
        }

        Bytes list(int length) {
            return add('X').integer(length);
        }

        Bytes reference(int number) {
            return add('Q').integer(number);
        }

        Bytes definition(String name, String... fields) {
            add('C');
            text(name);
            integer(fields.length);
            for (String field : fields) {
                text(field);
            }
            return this;
        }
    }
}
