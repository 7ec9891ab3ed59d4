package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.MonthDay;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Creates random object graphs that can contain cycles. */
final class Graphs {

    /** A service that declares the types of the random graphs. */
    interface Graph {
        Node walk(Node start, Narrow narrow, DayOfWeek day, TimeUnit unit);
    }

    enum Mood {
        CALM,
        LOUD {
            @Override
            String sound() {
                return "!";
            }
        };

        String sound() {
            return ".";
        }
    }

    record Pair(@Nullable Object left, long right, @Nullable List<Integer> more) implements Serializable {}

    static class Named implements Serializable {
        @Nullable
        String name;

        int count;

        @Nullable
        Object hidden;
    }

    static class Node extends Named {
        long id;
        double weight;
        boolean set;

        @Nullable
        Integer boxed;

        @Nullable
        Long boxedLong;

        @Nullable
        Boolean flag;

        @Nullable
        Mood mood;

        @Nullable
        Pair pair;

        @Nullable
        Node next;

        @Nullable
        Object any;

        @Nullable
        List<Object> list;

        @Nullable
        Map<String, Object> map;

        @Nullable
        Set<String> words;

        int @Nullable [] ints;
        String @Nullable [] texts;
        Node @Nullable [] nodes;
        long @Nullable [][] grid;
        byte @Nullable [] bytes;

        @Nullable
        BigDecimal amount;

        @Nullable
        Date born;

        @Nullable
        LocalDateTime at;

        transient int ignored = 7;
    }

    /**
     * A class with some fields that hessian-lite's reader corrupts, and with other fields that it must read correctly.
     */
    static class Narrow implements Serializable {
        byte before;
        float first;
        char letter;
        short small;
        float second;
        byte after;

        @Nullable
        Float boxedFloat;

        @Nullable
        Character boxedLetter;

        @Nullable
        Byte boxedByte;

        @Nullable
        Short boxedShort;

        float @Nullable [] floats;
        char @Nullable [] letters;
        short @Nullable [] smalls;
        boolean @Nullable [] flags;
        double @Nullable [] doubles;
    }

    private static final int MAX_OBJECTS = 60;

    private final Random random;
    private final List<Object> made = new ArrayList<>();
    private final boolean narrow;

    /**
     * @param narrow whether graphs may contain floats and calendars; false to compare Tern with hessian-lite, which
     *     reads floats and writes calendars wrongly
     */
    Graphs(long seed, boolean narrow) {
        this.random = new Random(seed);
        this.narrow = narrow;
    }

    @Nullable
    Object next() {
        return value(0);
    }

    private @Nullable Object value(int depth) {
        if (!made.isEmpty() && random.nextInt(6) == 0) {
            return made.get(random.nextInt(made.size()));
        }
        int kind = random.nextInt(depth > 8 || made.size() > MAX_OBJECTS ? 4 : 10);
        return switch (kind) {
            case 0 -> null;
            case 1, 2 -> scalar();
            case 3 -> jdkValue();
            case 4 -> list(depth);
            case 5 -> map(depth);
            case 6 -> narrow && random.nextBoolean() ? narrow() : pair(depth);
            case 7 -> array(depth);
            default -> node(depth);
        };
    }

    private Object scalar() {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextBoolean();
            case 1 -> number(Integer.SIZE);
            case 2 -> wide();
            case 3 -> fraction();
            case 4 -> new Date(random.nextBoolean() ? wide() % 100_000_000_000_000L : random.nextInt() * 60_000L);
            case 5 -> bytes();
            case 6 -> Mood.values()[random.nextInt(2)];
            default -> text();
        };
    }

    private int number(int bits) {
        return random.nextInt() >> random.nextInt(bits);
    }

    private long wide() {
        return random.nextLong() >> random.nextInt(Long.SIZE);
    }

    private double fraction() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextInt(5);
            case 1 -> (byte) random.nextInt();
            case 2 -> (short) random.nextInt();
            case 3 -> random.nextInt() * 0.001;
            case 4 -> random.nextInt() / 1000.0;
            default -> Double.longBitsToDouble(random.nextLong() & ~(1L << 62));
        };
    }

    private byte[] bytes() {
        byte[] bytes = new byte[random.nextInt(random.nextInt(40) == 0 ? 20_000 : 40)];
        random.nextBytes(bytes);
        return bytes;
    }

    private String text() {
        int length = random.nextInt(random.nextInt(60) == 0 ? 70_000 : 50);
        StringBuilder text = new StringBuilder();
        int plain = random.nextInt(3);
        while (text.length() < length) {
            text.appendCodePoint(
                    switch (plain) {
                        case 0 -> 'a' + random.nextInt(26);
                        case 1 -> random.nextInt(0x800);
                        default -> point();
                    });
        }
        return text.toString();
    }

    private int point() {
        int point = random.nextInt(0x11_0000);
        return point >= 0xd800 && point < 0xe000 ? 0x1f600 : point;
    }

    private Object jdkValue() {
        LocalDateTime at = LocalDateTime.ofEpochSecond(number(32), random.nextInt(1_000_000_000), ZoneOffset.UTC);
        return switch (random.nextInt(40)) {
            case 0 -> new BigDecimal(new BigInteger(1 + random.nextInt(200), random), random.nextInt(20));
            case 1 -> new BigInteger(1 + random.nextInt(300), random).negate();
            case 2 -> new UUID(random.nextLong(), random.nextLong());
            case 3 -> Currency.getInstance("EUR");
            case 4 -> Locale.GERMANY;
            case 5 -> new AtomicReference<>("x");
            case 6 -> new Timestamp(number(32));
            case 7 -> new java.sql.Date(number(32));
            case 8 -> new Time(number(32));
            case 9 -> at;
            case 10 -> at.toLocalDate();
            case 11 -> at.toLocalTime();
            case 12 -> at.atZone(ZoneId.of("Europe/Paris"));
            case 13 -> at.atOffset(ZoneOffset.ofHours(3));
            case 14 -> at.atOffset(ZoneOffset.ofHours(-3)).toOffsetTime();
            case 15 -> at.toInstant(ZoneOffset.UTC);
            case 16 -> Duration.ofNanos(wide());
            case 17 -> Period.of(number(8), number(8), number(8));
            case 18 -> Year.of(number(20) % 10_000);
            case 19 -> YearMonth.of(2000 + random.nextInt(50), 1 + random.nextInt(12));
            case 20 -> MonthDay.of(1 + random.nextInt(12), 1);
            case 21 -> ZoneOffset.ofTotalSeconds(random.nextInt(3600));
            case 22 -> ZoneId.of("Asia/Tokyo");
            case 23 -> BitSet.valueOf(new long[] {random.nextLong(), random.nextLong()});
            case 24 -> EnumSet.of(Mood.LOUD);
            case 25 -> builder();
            case 26 -> new AbstractMap.SimpleEntry<>(text(), number(32));
            case 27 -> narrow ? new GregorianCalendar(2020, random.nextInt(12), 3) : new AtomicReference<>(1L);
            case 28 -> DayOfWeek.of(1 + random.nextInt(7));
            case 29 -> TimeUnit.DAYS;
            case 30 -> Collections.unmodifiableList(new ArrayList<>(List.of(1, 2)));
            case 31 -> List.of(1, "x", 2L);
            case 32 -> Map.of("a", 1);
            case 33 -> new Vector<>(List.of(1.5));
            case 34 -> new TreeSet<>(List.of("b", "a"));
            case 35 -> new CopyOnWriteArrayList<>(List.of("b", "a"));
            case 36 -> new ConcurrentHashMap<>(Map.of("k", 2));
            case 37 -> Arrays.asList("x", null);
            case 38 -> Collections.singletonMap("k", "v");
            default -> new ArrayDeque<>(List.of("first", "last"));
        };
    }

    private Object list(int depth) {
        List<Object> list = random.nextBoolean() ? new ArrayList<>() : new LinkedList<>();
        made.add(list);
        for (int i = random.nextInt(9); i > 0; i--) {
            list.add(value(depth + 1));
        }
        return list;
    }

    private Object map(int depth) {
        Map<Object, Object> map = switch (random.nextInt(3)) {
            case 0 -> new HashMap<>();
            case 1 -> new LinkedHashMap<>();
            default -> new TreeMap<>();
        };
        made.add(map);
        for (int i = random.nextInt(5); i > 0; i--) {
            map.put(text(), value(depth + 1));
        }
        return map;
    }

    private Object pair(int depth) {
        return new Pair(scalar(), wide(), random.nextBoolean() ? null : new ArrayList<>(List.of(number(32), depth)));
    }

    private Object array(int depth) {
        return switch (random.nextInt(6)) {
            case 0 -> random.ints(random.nextInt(12)).toArray();
            case 1 -> new String[] {text(), null};
            case 2 -> new long[][] {{wide()}, {}, {wide(), wide()}};
            case 3 -> new Object[] {value(depth + 1), value(depth + 1)};
            case 4 -> new Date[] {new Date(5)};
            default -> new boolean[] {true, false};
        };
    }

    private Narrow narrow() {
        Narrow narrow = new Narrow();
        narrow.before = (byte) random.nextInt();
        narrow.first = random.nextFloat() * 1e6f;
        narrow.letter = (char) random.nextInt(0xd800);
        narrow.small = (short) random.nextInt();
        narrow.second = random.nextFloat();
        narrow.after = (byte) random.nextInt();
        narrow.boxedFloat = random.nextFloat();
        narrow.boxedLetter = 'x';
        narrow.boxedByte = (byte) random.nextInt();
        narrow.boxedShort = (short) random.nextInt();
        narrow.floats = new float[] {random.nextFloat(), 0.1f, 1};
        narrow.letters = new char[] {'a', 'é'};
        narrow.smalls = new short[] {(short) random.nextInt()};
        narrow.flags = new boolean[] {true};
        narrow.doubles = new double[] {fraction(), fraction()};
        return narrow;
    }

    private Node node(int depth) {
        Node node = new Node();
        made.add(node);
        node.name = random.nextBoolean() ? null : text();
        node.count = number(32);
        node.hidden = scalar();
        node.id = wide();
        node.weight = fraction();
        node.set = random.nextBoolean();
        node.boxed = random.nextBoolean() ? null : Integer.valueOf(number(32));
        node.boxedLong = random.nextBoolean() ? null : Long.valueOf(wide());
        node.flag = random.nextBoolean() ? null : Boolean.TRUE;
        node.mood = random.nextBoolean() ? null : Mood.LOUD;
        node.pair = random.nextBoolean() ? null : (Pair) pair(depth);
        node.next = random.nextInt(3) > 0 || depth > 8 ? null : node(depth + 1);
        node.any = value(depth + 1);
        if (random.nextInt(3) == 0) {
            fillContainers(node, depth);
        }
        return node;
    }

    @SuppressWarnings("unchecked") // The cast is safe, because list() returns a list of objects.
    private void fillContainers(Node node, int depth) {
        node.list = (List<Object>) list(depth + 1);
        node.map = new HashMap<>(Map.of("x", scalar()));
        node.words = new LinkedHashSet<>(new HashSet<>(List.of("a", "bb")));
        node.ints = new int[] {number(32), number(32)};
        node.texts = new String[] {text()};
        node.nodes = new Node[] {node, null};
        node.grid = new long[][] {{1, wide()}, null};
        node.bytes = bytes();
        node.amount = new BigDecimal("12.50");
        node.born = new Date(wide() >> 20);
        node.at = LocalDateTime.of(2024, 2, 29, 1, 2, 3);
    }

    /** Returns a builder without unused capacity, because hessian-lite also writes unused capacity. */
    private StringBuilder builder() {
        StringBuilder builder = new StringBuilder(text());
        builder.trimToSize();
        return builder;
    }

    /**
     * Returns a representation of the value that can be compared even if the value's class does not define {@code
     * equals}.
     */
    static Object plain(Object value) {
        if (value instanceof AtomicInteger
                || value instanceof AtomicLong
                || value instanceof AtomicBoolean
                || value instanceof AtomicReference
                || value instanceof AtomicIntegerArray
                || value instanceof LongAdder
                || value instanceof StringBuilder) {
            return value.getClass().getSimpleName() + value;
        }
        return value instanceof Calendar calendar ? calendar.getTime() : value;
    }
}
