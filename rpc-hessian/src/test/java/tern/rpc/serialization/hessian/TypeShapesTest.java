package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.file.StandardOpenOption;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.hessian.ShapeTypes.Animal;
import tern.rpc.serialization.hessian.ShapeTypes.Base;
import tern.rpc.serialization.hessian.ShapeTypes.Bean;
import tern.rpc.serialization.hessian.ShapeTypes.Bike;
import tern.rpc.serialization.hessian.ShapeTypes.Box;
import tern.rpc.serialization.hessian.ShapeTypes.Car;
import tern.rpc.serialization.hessian.ShapeTypes.Cat;
import tern.rpc.serialization.hessian.ShapeTypes.Derived;
import tern.rpc.serialization.hessian.ShapeTypes.Finals;
import tern.rpc.serialization.hessian.ShapeTypes.Generic;
import tern.rpc.serialization.hessian.ShapeTypes.Heir;
import tern.rpc.serialization.hessian.ShapeTypes.Index;
import tern.rpc.serialization.hessian.ShapeTypes.LongPage;
import tern.rpc.serialization.hessian.ShapeTypes.Mode;
import tern.rpc.serialization.hessian.ShapeTypes.NotSerializable;
import tern.rpc.serialization.hessian.ShapeTypes.Page;
import tern.rpc.serialization.hessian.ShapeTypes.Percent;
import tern.rpc.serialization.hessian.ShapeTypes.Shapes;
import tern.rpc.serialization.hessian.ShapeTypes.Single;
import tern.rpc.serialization.hessian.ShapeTypes.Tags;
import tern.rpc.serialization.hessian.ShapeTypes.Vehicle;

/** Tests the supported combinations of a sent value, a declared type and a received value. */
class TypeShapesTest {

    private final Coding coding = Coding.of(Shapes.class);

    static Stream<Arguments> valuesArriveAsSent() {
        return Stream.of(
                        new AtomicBoolean(true),
                        new AtomicInteger(5),
                        new AtomicLong(1L << 40),
                        new AtomicReference<>("x"),
                        new AtomicIntegerArray(new int[] {1, 2}),
                        new AtomicLongArray(new long[] {1, 2}),
                        adder(),
                        new StringBuilder("漢字"),
                        new StringBuffer("latin"),
                        new AbstractMap.SimpleEntry<>("k", 1),
                        new AbstractMap.SimpleImmutableEntry<>("k", List.of()),
                        -0.0,
                        new BigDecimal("-0.00"),
                        BigInteger.ZERO,
                        new BigInteger("-123456789012345678901234567890"),
                        java.net.URI.create("http://a/b?c#d"),
                        Locale.ROOT,
                        Locale.SIMPLIFIED_CHINESE,
                        Locale.forLanguageTag("zh-Hant-TW"),
                        new Locale("no", "NO", "NY"),
                        new Locale("th", "TH", "TH"),
                        new Locale("ja", "JP", "JP"),
                        Locale.forLanguageTag("ar-EG-u-ca-islamic-nu-latn"),
                        Locale.forLanguageTag("de-u-co-phonebk-x-a-b"),
                        Locale.forLanguageTag("zh-Hant-TW-a-foo-t-en-x-private"),
                        Locale.forLanguageTag("sl-Latn-IT-nedis-rozaj-u-attr"),
                        Locale.forLanguageTag("de-DE-1996-x-lvariant-POSIX"),
                        EnumSet.noneOf(Mode.class),
                        EnumSet.allOf(Mode.class),
                        new EnumMap<>(Map.of(Mode.OFF, 1)),
                        new Vector<>(List.of(1)),
                        new Hashtable<>(Map.of("a", 1)),
                        new ConcurrentHashMap<>(Map.of("a", 1)),
                        new ConcurrentSkipListMap<>(Map.of("a", 1)),
                        new TreeSet<>(List.of(2, 1)),
                        new CopyOnWriteArrayList<>(List.of(1)),
                        new ArrayDeque<>(List.of(1)),
                        new PriorityQueue<>(List.of(3, 1)),
                        new LinkedBlockingQueue<>(List.of(1)),
                        stack(),
                        properties(),
                        DayOfWeek.FRIDAY,
                        Mode.OFF,
                        new Car(4),
                        new int[][] {{1}, {}, {2, 3}},
                        new String[][][] {{{"a"}}},
                        new Car[] {new Car(1)},
                        new Mode[] {Mode.ON},
                        new Integer[] {1, null},
                        new boolean[] {true},
                        new float[] {0.1f},
                        new Date[] {new Date(1)},
                        new List<?>[] {List.of(1)})
                .map(value -> Arguments.of(value.getClass().getSimpleName(), value));
    }

    private static LongAdder adder() {
        LongAdder adder = new LongAdder();
        adder.add(7);
        return adder;
    }

    private static Stack<Object> stack() {
        Stack<Object> stack = new Stack<>();
        stack.push(1);
        return stack;
    }

    private static Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("a", "b");
        return properties;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void valuesArriveAsSent(String name, Object value) {
        Object read = coding.through(value, Object.class);

        assertThat(read).as(name).hasSameClassAs(value);
        if (read instanceof Number || read instanceof CharSequence || name.startsWith("Atomic")) {
            assertThat(read).hasToString(value.toString());
        } else if (read instanceof Queue<?> queue) {
            assertThat(queue.toArray()).isEqualTo(((Queue<?>) value).toArray());
        } else {
            assertThat(read).isEqualTo(value);
        }
    }

    @Test
    void entriesOfMapsArriveAsEqualEntries() {
        for (Map.Entry<?, ?> entry : List.of(
                Map.entry("k", List.of()),
                new HashMap<>(Map.of("k", 1)).entrySet().iterator().next())) {
            assertThat(coding.through(entry, Object.class))
                    .isInstanceOf(AbstractMap.SimpleImmutableEntry.class)
                    .isEqualTo(entry);
        }
    }

    static Stream<Arguments> valuesArriveAsTheDeclaredType() {
        List<Integer> list = new ArrayList<>(List.of(3, 1));
        Map<String, Integer> map = new HashMap<>(Map.of("k", 1));
        return Stream.of(
                Arguments.of(5, byte.class, (byte) 5),
                Arguments.of(5, Short.class, (short) 5),
                Arguments.of(5, long.class, 5L),
                Arguments.of(5, Double.class, 5.0),
                Arguments.of(5L, int.class, 5),
                Arguments.of(2.5, float.class, 2.5f),
                Arguments.of(3.0, int.class, 3),
                Arguments.of(5, BigDecimal.class, new BigDecimal(5)),
                Arguments.of(5, BigInteger.class, BigInteger.valueOf(5)),
                Arguments.of(5, Number.class, 5),
                Arguments.of(null, int.class, null),
                Arguments.of(null, boolean.class, null),
                Arguments.of("x", char.class, 'x'),
                Arguments.of("xy", char[].class, new char[] {'x', 'y'}),
                Arguments.of("xy", CharSequence.class, "xy"),
                Arguments.of(new Date(5), Timestamp.class, new Timestamp(5)),
                Arguments.of(new Date(5), java.sql.Date.class, new java.sql.Date(5)),
                Arguments.of(new Timestamp(5), Date.class, new Timestamp(5)),
                Arguments.of(list, int[].class, new int[] {3, 1}),
                Arguments.of(list, long[].class, new long[] {3, 1}),
                Arguments.of(list, Long[].class, new Long[] {3L, 1L}),
                Arguments.of(list, Object[].class, new Object[] {3, 1}),
                Arguments.of(list, Collection.class, list),
                Arguments.of(list, Iterable.class, list),
                Arguments.of(list, Set.class, Set.of(1, 3)),
                Arguments.of(list, SortedSet.class, new TreeSet<>(list)),
                Arguments.of(list, LinkedList.class, new LinkedList<>(list)),
                Arguments.of(list, Queue.class, new LinkedList<>(list)),
                Arguments.of(list, Vector.class, new Vector<>(list)),
                Arguments.of(list, CopyOnWriteArrayList.class, list),
                Arguments.of(new int[] {3, 1}, List.class, list),
                Arguments.of(new int[] {3, 1}, long[].class, new long[] {3, 1}),
                Arguments.of(new String[] {"a"}, Object[].class, new String[] {"a"}),
                Arguments.of(new LinkedList<>(list), ArrayList.class, list),
                Arguments.of(new TreeSet<>(list), List.class, List.of(1, 3)),
                Arguments.of(Collections.unmodifiableSet(Set.of(1)), Set.class, Set.of(1)),
                Arguments.of(Collections.unmodifiableSortedSet(new TreeSet<>(list)), Set.class, Set.of(1, 3)),
                Arguments.of(Collections.synchronizedList(list), List.class, list),
                Arguments.of(Arrays.asList(1, 2).subList(1, 2), List.class, List.of(2)),
                Arguments.of(new LinkedHashMap<>(map).keySet(), Set.class, Set.of("k")),
                Arguments.of(ConcurrentHashMap.newKeySet(), Set.class, Set.of()),
                Arguments.of(map, SortedMap.class, map),
                Arguments.of(map, NavigableMap.class, map),
                Arguments.of(map, ConcurrentMap.class, map),
                Arguments.of(map, LinkedHashMap.class, map),
                Arguments.of(map, Hashtable.class, map),
                Arguments.of(new TreeMap<>(map), HashMap.class, map),
                Arguments.of(Collections.unmodifiableMap(map), Map.class, map),
                Arguments.of(Map.of("a", 1, "b", 2), Map.class, Map.of("a", 1, "b", 2)),
                Arguments.of(new EnumMap<>(Map.of(Mode.ON, 1)), Map.class, Map.of(Mode.ON, 1)),
                Arguments.of(new ArrayList<>(), BlockingQueue.class, null));
    }

    @ParameterizedTest
    @MethodSource
    void valuesArriveAsTheDeclaredType(@Nullable Object sent, Class<?> declared, @Nullable Object expected) {
        Object read = coding.through(sent, declared);

        if (expected != null) {
            assertThat(read).isEqualTo(expected);
        }
        if (read != null && !declared.isPrimitive()) {
            assertThat(read).isInstanceOf(declared);
        }
    }

    static Stream<Arguments> valuesThatDoNotFitTheDeclaredTypeAreRefused() {
        return Stream.of(
                Arguments.of(128, byte.class),
                Arguments.of(1 << 20, Short.class),
                Arguments.of(1L << 40, int.class),
                Arguments.of(2.5, int.class),
                Arguments.of("xy", char.class),
                Arguments.of("5", int.class),
                Arguments.of(5, String.class),
                Arguments.of(true, int.class),
                Arguments.of("x", List.class),
                Arguments.of(List.of(), Map.class),
                Arguments.of(Map.of(), List.class),
                Arguments.of(List.of(), Bean.class),
                Arguments.of(new Car(1), Bike.class),
                Arguments.of(new Car(1), String.class),
                Arguments.of(Mode.ON, DayOfWeek.class),
                Arguments.of(new int[] {1}, String.class),
                Arguments.of(new byte[1], int[].class),
                Arguments.of(List.of("x"), int[].class));
    }

    @ParameterizedTest
    @MethodSource
    void valuesThatDoNotFitTheDeclaredTypeAreRefused(Object sent, Class<?> declared) {
        assertThatThrownBy(() -> coding.through(sent, declared))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("is declared");
    }

    @Test
    void keysOfTwoEnumsAreAMistakeOfTheMessage() {
        Map<Object, Integer> mixed = new LinkedHashMap<>();
        mixed.put(Mode.ON, 1);
        mixed.put(DayOfWeek.MONDAY, 2);

        assertThatThrownBy(() -> coding.through(mixed, EnumMap.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(
                        "a key of class java.time.DayOfWeek in a map with keys of class " + Mode.class.getName())
                .hasMessageContaining("is declared");
    }

    @Test
    void enumsOfTheJdkThatAreDataArriveWhereNoEnumIsDeclared() {
        Coding generic = Coding.of(Generic.class);

        for (Object value : List.of(
                DayOfWeek.MONDAY,
                ChronoUnit.DAYS,
                RoundingMode.UP,
                TimeUnit.SECONDS,
                Locale.Category.FORMAT,
                EnumSet.of(DayOfWeek.MONDAY, DayOfWeek.FRIDAY),
                new EnumMap<>(Map.of(DayOfWeek.MONDAY, 1)),
                new DayOfWeek[] {DayOfWeek.SUNDAY},
                List.of(DayOfWeek.MONDAY),
                Map.of("day", DayOfWeek.MONDAY))) {
            assertThat(generic.through(value, Object.class)).isEqualTo(value);
        }
        assertThat(generic.through(DayOfWeek.MONDAY, TemporalAccessor.class)).isEqualTo(DayOfWeek.MONDAY);
    }

    @Test
    void enumsOfTheJdkThatAreNotDataMustBeDeclared() {
        Coding generic = Coding.of(Generic.class);

        assertThatThrownBy(() -> generic.through(StandardOpenOption.WRITE, Object.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("class java.nio.file.StandardOpenOption may not be read at java.lang.Object")
                .hasMessageContaining("classes of this package are not data; send a type of your own");
    }

    private @Nullable Object throughGeneric(String method, Object value) {
        Coding generic = Coding.of(Generic.class);
        ValueType type = ServiceDescriptor.of(Generic.class)
                .overloads(method)
                .get(0)
                .parameters()
                .get(0);
        return generic.through(value, type.generic());
    }

    @Test
    void elementsAreNarrowedToTheirDeclaredType() {
        assertThat(throughGeneric("longs", List.of(1, 2))).isEqualTo(List.of(1L, 2L));
        assertThat(throughGeneric("floats", Map.of(1, 2.5))).isEqualTo(Map.of((short) 1, 2.5f));
        assertThat(throughGeneric("nested", Map.of("k", List.of(Set.of(1)))))
                .isEqualTo(Map.of("k", List.of(Set.of((byte) 1))));
        assertThat(((Deque<?>) throughGeneric("deque", new ArrayDeque<>(List.of("x")))).toArray())
                .containsExactly('x');
        assertThat(throughGeneric("enumMap", new HashMap<>(Map.of(Mode.ON, 1)))).isEqualTo(Map.of(Mode.ON, 1L));
        assertThat((Object[]) throughGeneric("arrays", new List<?>[] {List.of(1)}))
                .containsExactly(List.of(1L));
        assertThat(throughGeneric("wildcards", List.of(1, 2.5))).isEqualTo(List.of(1, 2.5));
        assertThatThrownBy(() -> throughGeneric("longs", List.of("x")))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("java.lang.String where java.lang.Long is declared")
                .hasMessageContaining("java.util.List<java.lang.Long>, element");
    }

    @Test
    void fieldsOfGenericClassesAreNarrowedAsTheirPositionDeclares() {
        Page<Object> sent = new Page<>();
        sent.items = new ArrayList<>(List.of(1));
        sent.first = 2;
        sent.next = new Page<>();
        sent.next.items = new ArrayList<>(List.of(3));

        Page<?> read = (Page<?>) throughGeneric("page", sent);

        assertThat((List<Object>) (List<?>) read.items).containsExactly(1L);
        assertThat((Object) read.first).isEqualTo(2L);
        assertThat((List<Object>) (List<?>) read.next.items).containsExactly(3L);
        assertThat(throughGeneric("box", new Box<>(1, List.of(2.5)))).isEqualTo(new Box<>((short) 1, List.of(2.5f)));
    }

    @Test
    void aSubclassThatFixesTheTypeArgumentsNarrowsToo() {
        LongPage sent = new LongPage();
        // The cast is wrong on purpose: the list contains an Integer, but its declared element type is Long.
        @SuppressWarnings({"unchecked", "rawtypes"})
        List<Long> ints = (List) new ArrayList<>(List.of(1));
        sent.items = ints;

        LongPage read = (LongPage) coding.through(sent, LongPage.class);

        assertThat((List<Object>) (List<?>) read.items).containsExactly(1L);
    }

    @Test
    void permittedSubclassesOfSealedTypesAreRead() {
        assertThat(coding.through(new Car(3), Vehicle.class)).isEqualTo(new Car(3));
        assertThat(((Bike) coding.through(new Bike("ring"), Vehicle.class)).bell)
                .isEqualTo("ring");
    }

    @Test
    void anUnlistedClassOfTheOwnPackageIsReadWhereItsTypeIsDeclared() {
        assertThat(coding.through(new Cat("Tom"), Animal.class)).isEqualTo(new Cat("Tom"));
        for (Type jdk : new Type[] {Object.class, Serializable.class, Record.class}) {
            assertThatThrownBy(() -> coding.through(new Cat("Tom"), jdk))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("rpc.limits.allowed-classes=" + Cat.class.getName());
        }
    }

    @Test
    void hiddenFieldsKeepTheirOwnValues() {
        Derived sent = new Derived();
        sent.same = 1L << 40;
        ((Base) sent).same = 7;
        sent.kept = "kept";

        Derived read = (Derived) coding.through(sent, Derived.class);

        assertThat(read.same).isEqualTo(1L << 40);
        assertThat(((Base) read).same).isEqualTo(7);
        assertThat(read.kept).isEqualTo("kept");
    }

    @Test
    void aFieldThatOnlyTheSubclassOfTheSenderHasGoesToOurSubclass() {
        byte[] bytes = Coding.bytes("43 \"" + Derived.class.getName() + "\" 91 \"same\" 60 e5");

        Derived read = (Derived) coding.read(bytes, Derived.class);

        assertThat(read.same).isEqualTo(5L);
        assertThat(((Base) read).same).isZero();
    }

    @Test
    void finalFieldsAreSetAndConstructorsDoNotRun() {
        Finals read = (Finals) coding.through(new Finals(5, "x"), Finals.class);

        assertThat(read.number).isEqualTo(5);
        assertThat(read.text).isEqualTo("x");
        assertThat(read.list).containsExactly(5);
    }

    @Test
    void constructorsOfSuperclassesDoNotRunEither() {
        byte[] bytes = Coding.bytes("43 \"" + Heir.class.getName() + "\" 91 \"inherited\" 60 94");

        assertThat(((NotSerializable) coding.read(bytes, Heir.class)).inherited).isEqualTo(4);
    }

    @Test
    void aRecordsConstructorMayRefuse() {
        assertThat(coding.through(new Percent(50), Percent.class)).isEqualTo(new Percent(50));
        assertThatThrownBy(() -> coding.read(
                        Coding.bytes("43 \"" + Percent.class.getName() + "\" 91 \"value\" 60 c8 ff"), Percent.class))
                .isInstanceOf(SerializationException.class)
                .hasRootCauseMessage("percent 255");
    }

    @Test
    void missingRecordComponentIsZero() {
        assertThat(coding.read(Coding.bytes("43 \"" + Percent.class.getName() + "\" 90 60"), Percent.class))
                .isEqualTo(new Percent(0));
    }

    @Test
    void aClassMayPutAnotherObjectInTheReadOnesPlace() {
        Object[] read = (Object[])
                coding.through(new Object[] {Single.INSTANCE, Single.INSTANCE, Single.INSTANCE}, Object[].class);

        assertThat(read).containsOnly(Single.INSTANCE);
        assertThat(Single.INSTANCE.ignored()).isEqualTo(1);
    }

    @Test
    void collectionsOfTheApplicationKeepTheirClass() {
        Tags tags = new Tags();
        tags.add("a");
        Index index = new Index();
        index.put("k", 1L);

        assertThat(coding.through(tags, Tags.class))
                .isExactlyInstanceOf(Tags.class)
                .isEqualTo(tags);
        assertThat(coding.through(index, Map.class))
                .isExactlyInstanceOf(Index.class)
                .isEqualTo(index);
        assertThat(coding.through(new ArrayList<>(tags), Tags.class)).isExactlyInstanceOf(Tags.class);
    }

    @Test
    void fieldsOfEveryKindAreSet() {
        Bean sent = new Bean();
        sent.b = -1;
        sent.s = -2;
        sent.i = -3;
        sent.l = -4;
        sent.f = 0.1f;
        sent.d = 0.2;
        sent.z = true;
        sent.c = 'é';
        sent.boxed = 5;
        sent.longs = new ArrayList<>(List.of(6L));
        sent.set = Set.of(7);
        sent.stamp = new Timestamp(8);
        sent.day = new java.sql.Date(9);
        sent.time = new Time(10);
        sent.modes = new EnumMap<>(Map.of(Mode.OFF, 11L));
        sent.self = sent;

        Bean read = (Bean) coding.through(sent, Bean.class);

        assertThat(read).usingRecursiveComparison().ignoringFields("self").isEqualTo(sent);
        assertThat(read.self).isSameAs(read);
    }

    @Test
    void fieldsThatDoNotExistHereArePassedOver() {
        byte[] bytes = Coding.bytes("43 \"" + Bean.class.getName() + "\" 93 \"gone\" \"i\" \"self\" 60"
                + " 43 \"com.nowhere.Gone\" 92 \"a\" \"b\" 61 7a 90 48 01 61 91 5a 72 \"[int\" 91 92"
                + " 99 51 90");

        Bean read = (Bean) coding.read(bytes, Bean.class);

        assertThat(read.i).isEqualTo(9);
        assertThat(read.self).isSameAs(read);
    }

    /**
     * The sender's class has one more field than the receiver's class. The additional field refers to the same object
     * as a known field.
     */
    @Test
    void skippedValueIsReadIfAnotherFieldRefersToIt() {
        byte[] bytes = Coding.bytes("7a 43 \"" + Bean.class.getName() + "\" 94 \"gone\" \"self\" \"longs\" \"set\" 60"
                + " 7a 60 71 \"java.util.HashSet\" 95 51 91 79 96 51 94 90"
                + " 51 93 51 95 51 94 51 93");

        List<?> read = (List<?>) coding.read(bytes, List.class);
        Bean outer = (Bean) read.get(0);

        assertThat(outer.self).isSameAs(read.get(1));
        assertThat(outer.longs).containsExactly(6L);
        assertThat(outer.set).containsExactly(5);
        assertThat(outer.self.self).isSameAs(outer);
        assertThat(outer.self.set).isSameAs(outer.set);
        assertThat(outer.self.longs).isSameAs(outer.longs);
    }

    @Test
    void aSharedValueThatOnlyALostFieldHoldsFirstKeepsItsIdentity() {
        String now = "43 \"com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle\" 93 \"year\" \"month\" \"day\"";
        byte[] bytes = Coding.bytes("7b 43 \"" + Bean.class.getName() + "\" 92 \"gone\" \"i\" 60 " + now
                + " 61 cf e8 91 92 97 51 92 51 92");

        List<?> read = (List<?>) coding.read(bytes, List.class);

        assertThat(((Bean) read.get(0)).i).isEqualTo(7);
        assertThat(read.get(1)).isEqualTo(java.time.LocalDate.of(2024, 1, 2)).isSameAs(read.get(2));
    }

    @Test
    void referencesIntoLostFieldsCostNoMoreThanTheMessageAgain() {
        StringBuilder bytes = new StringBuilder("58 c8 40 43 \"" + Bean.class.getName() + "\" 91 \"gone\" 60 ");
        bytes.append("79 ".repeat(60)).append("53 4000 ").append("61".repeat(0x4000));
        for (int number = 61; number > 1; number--) {
            bytes.append(" 51 ").append(number > 47 ? "c8" + hex(number) : hex(0x90 + number));
        }
        bytes.append(" 4e".repeat(200));

        assertThatThrownBy(() -> coding.read(Coding.bytes(bytes.toString()), Object.class))
                .hasMessageContaining("too many references to objects in fields");
    }

    private static String hex(int value) {
        return Integer.toHexString(0x100 + value).substring(1);
    }

    @Test
    void anEnumIsFoundByTheClassOfItsConstantsBody() {
        byte[] bytes = Coding.bytes("43 \"" + Mode.OFF.getClass().getName() + "\" 91 \"name\" 60 \"OFF\"");

        assertThat(coding.read(bytes, Mode.class)).isEqualTo(Mode.OFF);
    }

    @Test
    void unknownConstantIsExplainedByTheVersionOfTheInterface() {
        byte[] bytes = Coding.bytes("43 \"" + Mode.class.getName() + "\" 91 \"name\" 60 \"HALF\"");

        assertThatThrownBy(() -> coding.read(bytes, Mode.class))
                .hasMessageContaining("has no constant HALF in this application; add the version of the interface's jar"
                        + " that the sender has");
    }

    @Test
    void everyFormOfALengthIsRead() {
        assertThat(coding.read(Coding.bytes("55 \"[int\" 91 92 5a"))).isEqualTo(new int[] {1, 2});
        assertThat(coding.read(Coding.bytes("56 \"[int\" 92 91 92"))).isEqualTo(new int[] {1, 2});
        assertThat(coding.read(Coding.bytes("57 91 92 5a"))).isEqualTo(List.of(1, 2));
        assertThat(coding.read(Coding.bytes("58 92 91 92"))).isEqualTo(List.of(1, 2));
        assertThat(coding.read(Coding.bytes("7a 72 \"[int\" 91 92 72 90 91 92"), int[][].class))
                .isEqualTo(new int[][] {{1, 2}, {1, 2}});
        assertThat(coding.read(Coding.bytes("52 0001 61 52 0000 53 0001 62"))).isEqualTo("ab");
        assertThat(coding.read(Coding.bytes("52 0001 61 01 62"))).isEqualTo("ab");
        assertThat(coding.read(Coding.bytes("41 0001 01 41 0000 21 02"))).isEqualTo(new byte[] {1, 2});
        assertThat(coding.read(Coding.bytes("5f 00002fda"))).isEqualTo(12.25);
        assertThat(coding.read(Coding.bytes("06 eda0bd edb880 61 c3a9 e6bca2 00")))
                .isEqualTo("\uD83D\uDE00aé漢\0");
    }
}
