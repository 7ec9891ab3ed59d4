package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.types.TypeService;
import com.example.types.Types.Bike;
import com.example.types.Types.Car;
import com.example.types.Types.Cat;
import com.example.types.Types.Columns;
import com.example.types.Types.Failure;
import com.example.types.Types.Fixed;
import com.example.types.Types.Floating;
import com.example.types.Types.Hidden;
import com.example.types.Types.Item;
import com.example.types.Types.Level;
import com.example.types.Types.Nested;
import com.example.types.Types.Operation;
import com.example.types.Types.Page;
import com.example.types.Types.Pair;
import com.example.types.Types.Point;
import com.example.types.Types.Ring;
import com.example.types.Types.Rows;
import com.example.types.Types.SpecialItem;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.DubboPeer;
import tern.rpc.server.ServiceExport;

/**
 * Verifies promise R30 in docs/figures/promises.md: values of certain kinds of types arrive unchanged, as arguments and
 * as results. The calls run between two Tern peers, and between Tern and a real Apache Dubbo instance in both
 * directions. The table of results is part of docs/types.md. {@code -Dregenerate=true} rewrites it.
 */
@Timeout(300)
class TypeTableTest {

    private static final Path PAGE = Path.of("..", "docs", "types.md");
    private static final String HEADER = """
            | Shape | Tern to Tern | from Dubbo | to Dubbo |
            |---|---|---|---|
            """;
    private static final String WORKS = "works";

    private static final String ALLOW_LIST = "needs Dubbo's own allow-list";

    /** The types that Dubbo's decoder changes, regardless of its allow-list. */
    private static final Map<String, String> MISREAD = Map.of(
            "byLevel", "it reads a `HashMap`",
            "deque", "it reads an `ArrayList`",
            "hidden", "it reads one of the two fields",
            "sealedRecord", "it does not read a record where an interface is declared",
            "unlisted", "it does not read a record where an interface is declared");

    /**
     * The types that are not tested with Dubbo, because Dubbo's decoder stores eight bytes into a float field and so
     * overwrites the memory after it.
     */
    private static final Set<String> DAMAGES = Set.of("floating");

    private static final Map<String, Object> VALUES = values();
    private static final Map<String, String> SHAPES = shapes();

    private static final Sides SIDES = new Sides();
    private static final Recording OURS = new Recording();
    private static final List<Peer> PEERS = new ArrayList<>();
    private static RpcClient client;
    private static int port;
    private static TypeService ternToTern;
    private static Peer asDelivered;
    private static Peer allowing;

    /** A Dubbo provider together with a Dubbo consumer. */
    private static final class Peer {
        private final Recording target = new Recording();
        private final DubboPeer dubbo;
        private final TypeService called;
        private final TypeService calling;

        Peer(String name, String... allowed) {
            dubbo = new DubboPeer(name, DubboProtocol.NAME);
            dubbo.allow(allowed);
            dubbo.provide(TypeService.class, target.service, "", "");
            called = Sides.refer(TypeService.class, client, settings -> {}, dubbo.endpoint());
            calling = dubbo.refer(TypeService.class, dubbo.url(port), reference -> {});
            PEERS.add(this);
        }
    }

    /**
     * A service in which each method returns a sample value of its result type. Records the last argument of each
     * method.
     */
    private static final class Recording {
        private final Map<String, Object> seen = new ConcurrentHashMap<>();
        private final TypeService service = (TypeService) Proxy.newProxyInstance(
                TypeService.class.getClassLoader(), new Class<?>[] {TypeService.class}, (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return method.getName().equals("toString") ? "types" : System.identityHashCode(proxy);
                    }
                    Object given = arguments[0];
                    seen.put(method.getName(), given == null ? "null" : given);
                    Object sample = VALUES.get(method.getName());
                    return method.getReturnType() == CompletableFuture.class
                            ? CompletableFuture.completedFuture(sample)
                            : sample;
                });
    }

    @BeforeAll
    static void start() {
        port = SIDES.serve(
                        limits -> limits,
                        settings -> settings.export(ServiceExport.of(TypeService.class, OURS.service)))
                .port();
        client = SIDES.client(limits -> limits);
        ternToTern = Sides.refer(TypeService.class, client, settings -> {}, new Endpoint("127.0.0.1", port));
        asDelivered = new Peer("types");
        allowing = new Peer("types-allowed", "com.example.types.", "java.util.ArrayDeque");
    }

    @AfterAll
    static void stop() {
        SIDES.close();
        PEERS.forEach(peer -> peer.dubbo.close());
    }

    private static Map<String, String> shapes() {
        Map<String, String> shapes = new LinkedHashMap<>();
        shapes.put("aInt", "`int`");
        shapes.put("aNull", "null for a boxed number");
        shapes.put("aLong", "`long`");
        shapes.put("aShort", "`short`");
        shapes.put("aByte", "`byte`");
        shapes.put("aChar", "`char`");
        shapes.put("aBoolean", "`boolean`");
        shapes.put("aDouble", "`double`");
        shapes.put("aFloat", "`float`");
        shapes.put("text", "text beyond the basic plane");
        shapes.put("bytes", "`byte[]`");
        shapes.put("ints", "`int[]`");
        shapes.put("longsInLongs", "`long[][]`");
        shapes.put("texts", "`String[]`");
        shapes.put("items", "an array of beans");
        shapes.put("decimal", "`BigDecimal`");
        shapes.put("integer", "`BigInteger`");
        shapes.put("date", "`Date`");
        shapes.put("timestamp", "`java.sql.Timestamp`");
        shapes.put("calendar", "`Calendar`");
        shapes.put("instant", "`Instant`");
        shapes.put("localDate", "`LocalDate`");
        shapes.put("localTime", "`LocalTime`");
        shapes.put("localDateTime", "`LocalDateTime`");
        shapes.put("offsetDateTime", "`OffsetDateTime`");
        shapes.put("zonedDateTime", "`ZonedDateTime`");
        shapes.put("duration", "`Duration`");
        shapes.put("year", "`Year`");
        shapes.put("uuid", "`UUID`");
        shapes.put("currency", "`Currency`");
        shapes.put("locale", "`Locale`");
        shapes.put("uri", "`URI`");
        shapes.put("builder", "`StringBuilder`");
        shapes.put("atomic", "`AtomicLong`");
        shapes.put("bits", "`BitSet`");
        shapes.put("level", "an enum");
        shapes.put("operation", "an enum whose constants have bodies");
        shapes.put("levels", "`EnumSet`");
        shapes.put("byLevel", "`EnumMap`");
        shapes.put("list", "`List<String>`");
        shapes.put("listOfLongs", "`List<Long>`");
        shapes.put("listOf", "`List.of` of beans");
        shapes.put("unmodifiable", "an unmodifiable list of beans");
        shapes.put("rows", "`List`, as a class of a library that extends `ArrayList`");
        shapes.put("collection", "`Collection` of beans, a set");
        shapes.put("linked", "`LinkedList`");
        shapes.put("deque", "`Deque`");
        shapes.put("set", "`Set<Integer>`");
        shapes.put("setOf", "`Set.of`");
        shapes.put("map", "a map of beans by text");
        shapes.put("nestedMap", "lists of beans by `Long`");
        shapes.put("mapOf", "`Map.of`");
        shapes.put("columns", "`Map`, as a class of a library that extends `LinkedHashMap`");
        shapes.put("sorted", "`SortedMap`");
        shapes.put("bean", "a bean");
        shapes.put("subclass", "a bean's subclass that nothing declares");
        shapes.put("hidden", "a bean that hides a field of its superclass");
        shapes.put("floating", "a bean with a field of type `float`");
        shapes.put("fixed", "a bean of final fields without a default constructor");
        shapes.put("page", "a generic bean");
        shapes.put("ring", "a bean that refers to itself");
        shapes.put("record", "a record");
        shapes.put("pair", "a generic record");
        shapes.put("nested", "a record of records, maps and enums");
        shapes.put("sealedRecord", "a sealed interface, as a record");
        shapes.put("sealedClass", "a sealed interface, as a class");
        shapes.put("unlisted", "an interface, as a record that nothing declares");
        shapes.put("object", "`Object`, whose value is of a class that the service declares elsewhere");
        shapes.put("later", "a `CompletableFuture` of a bean");
        shapes.put("failure", "an exception with fields and a cause, as a value");
        return shapes;
    }

    private static Map<String, Object> values() {
        Item item = Item.of("a", 1);
        SpecialItem special = new SpecialItem();
        special.name = "special";
        Hidden hidden = new Hidden();
        hidden.name = "outer";
        ((Item) hidden).name = "inner";
        Page<Item> page = new Page<>();
        page.items.add(item);
        page.first = Item.of("b", 2);
        Rows rows = new Rows();
        rows.add(item);
        Columns columns = new Columns();
        columns.put("a", 1);
        Ring ring = new Ring();
        ring.next = ring;
        Bike bike = new Bike();
        bike.bell = "ring";
        BitSet bits = new BitSet();
        bits.set(3);
        bits.set(70);
        Calendar calendar = new GregorianCalendar();
        calendar.setTimeInMillis(1_700_000_000_123L);
        LocalDateTime local = LocalDateTime.of(2024, 1, 2, 3, 4, 5, 6);
        Map<String, Object> values = new HashMap<>();
        values.put("aInt", 1 << 30);
        values.put("aNull", null);
        values.put("aLong", 1L << 40);
        values.put("aShort", (short) -300);
        values.put("aByte", (byte) 0x81);
        values.put("aChar", 'é');
        values.put("aBoolean", true);
        values.put("aDouble", 0.1);
        values.put("aFloat", 2.5f);
        values.put("text", "hé中😀\u0000");
        values.put("bytes", new byte[] {0, 1, -1});
        values.put("ints", new int[] {1, -2});
        values.put("longsInLongs", new long[][] {{1}, {}, {2, 3}});
        values.put("texts", new String[] {"a", null, "b"});
        values.put("items", new Item[] {item, special});
        values.put("decimal", new BigDecimal("123.4500"));
        values.put("integer", new BigInteger("-123456789012345678901234567890"));
        values.put("date", new Date(1_700_000_000_123L));
        values.put("timestamp", new Timestamp(1_700_000_000_123L));
        values.put("calendar", calendar);
        values.put("instant", Instant.ofEpochSecond(1_700_000_000L, 5));
        values.put("localDate", local.toLocalDate());
        values.put("localTime", local.toLocalTime());
        values.put("localDateTime", local);
        values.put("offsetDateTime", OffsetDateTime.of(local, ZoneOffset.ofHours(2)));
        values.put("zonedDateTime", local.atZone(ZoneId.of("Europe/Berlin")));
        values.put("duration", Duration.ofMillis(1_234));
        values.put("year", Year.of(2024));
        values.put("uuid", UUID.fromString("123e4567-e89b-12d3-a456-426614174000"));
        values.put("currency", Currency.getInstance("EUR"));
        values.put("locale", Locale.SIMPLIFIED_CHINESE);
        values.put("uri", URI.create("http://a/b?c#d"));
        values.put("builder", new StringBuilder("built"));
        values.put("atomic", new AtomicLong(5));
        values.put("bits", bits);
        values.put("level", Level.HIGH);
        values.put("operation", Operation.MULTIPLY);
        values.put("levels", EnumSet.of(Level.HIGH));
        values.put("byLevel", new EnumMap<>(Map.of(Level.LOW, 1L)));
        values.put("list", new ArrayList<>(Arrays.asList("a", null)));
        values.put("listOfLongs", new ArrayList<>(List.of(1L, 1L << 40)));
        values.put("listOf", List.of(item, special));
        values.put("unmodifiable", Collections.unmodifiableList(new ArrayList<>(List.of(item))));
        values.put("rows", rows);
        values.put("collection", new HashSet<>(Set.of(item)));
        values.put("linked", new LinkedList<>(List.of("a", "b")));
        values.put("deque", new ArrayDeque<>(List.of("a", "b")));
        values.put("set", new HashSet<>(Set.of(1, 2)));
        values.put("setOf", Set.of("a", "b"));
        values.put("map", new HashMap<>(Map.of("k", item)));
        values.put("nestedMap", new HashMap<>(Map.of(1L, new ArrayList<>(List.of(item)))));
        values.put("mapOf", Map.of("a", 1, "b", 2));
        values.put("columns", columns);
        values.put("sorted", new TreeMap<>(Map.of("a", 1, "b", 2)));
        values.put("bean", item);
        values.put("subclass", special);
        values.put("hidden", hidden);
        values.put("floating", new Floating());
        values.put("fixed", new Fixed("fixed", 3));
        values.put("page", page);
        values.put("ring", ring);
        values.put("record", new Point(3, -4));
        values.put("pair", new Pair<>(new Point(1, 2), List.of(3L)));
        values.put("nested", new Nested(new Point(5, 6), new HashMap<>(Map.of("k", item)), Level.LOW));
        values.put("sealedRecord", new Car(4));
        values.put("sealedClass", bike);
        values.put("unlisted", new Cat("Tom"));
        values.put("object", new Point(7, 8));
        values.put("later", item);
        values.put("failure", new Failure("outer", 42, new IllegalStateException("inner")));
        return values;
    }

    /**
     * Returns a representation of a value that can be compared. Such a representation is needed if {@code equals} does
     * not compare the content, or if the class changes during transmission.
     */
    private static @Nullable Object seenAs(@Nullable Object value) {
        if (value instanceof StringBuilder || value instanceof AtomicLong) {
            return value.getClass().getSimpleName() + " " + value;
        }
        if (value instanceof Ring ring) {
            return "ring " + ring.name + " " + (ring.next == ring);
        }
        if (value instanceof Failure failure) {
            return failure.getMessage() + " " + failure.code + " " + failure.getCause();
        }
        if (value instanceof Calendar calendar) {
            return calendar.getClass() + " " + calendar.getTimeInMillis();
        }
        if (value instanceof ArrayDeque<?> || value instanceof LinkedList<?>) {
            return new ArrayList<>((Collection<?>) value);
        }
        return value;
    }

    private static boolean isSame(String shape, @Nullable Object arrived) {
        return Objects.deepEquals(seenAs(VALUES.get(shape)), seenAs(arrived));
    }

    /**
     * Calls the method for one kind of type.
     *
     * @return null if argument and result arrived unchanged; otherwise a description of the difference
     */
    private static @Nullable String call(String shape, TypeService caller, Recording target) {
        Method method = Arrays.stream(TypeService.class.getMethods())
                .filter(declared -> declared.getName().equals(shape))
                .findFirst()
                .orElseThrow();
        target.seen.remove(shape);
        Object value = VALUES.get(shape);
        String result;
        try {
            Object returned = method.invoke(caller, value);
            Object answered =
                    returned instanceof CompletableFuture<?> later ? later.get(20, TimeUnit.SECONDS) : returned;
            result = isSame(shape, answered) ? null : "the result arrived as " + answered;
        } catch (InvocationTargetException e) {
            result = "failed: " + e.getCause();
        } catch (ReflectiveOperationException
                | RuntimeException
                | java.util.concurrent.ExecutionException
                | java.util.concurrent.TimeoutException e) {
            result = "failed: " + e;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        Object seen = target.seen.get(shape);
        if (seen == null) {
            return result == null ? "no argument arrived" : "the argument did not arrive, " + result;
        }
        return isSame(shape, value == null && seen.equals("null") ? null : seen)
                ? result
                : "the argument arrived as " + seen;
    }

    private record Row(String shape, String among, String from, String to) {}

    private static String among(String shape) {
        String wrong = call(shape, ternToTern, OURS);
        return wrong == null ? WORKS : wrong;
    }

    private static String from(String shape) {
        if (DAMAGES.contains(shape)) {
            return "as an argument; Dubbo's reader damages the answer";
        }
        String read = withDubbo(call(shape, asDelivered.calling, OURS), () -> call(shape, allowing.calling, OURS));
        boolean argumentArrived = read.startsWith("failed: ") || read.startsWith("the result");
        return MISREAD.containsKey(shape) && argumentArrived
                ? "as an argument; not as an answer to Dubbo: " + MISREAD.get(shape)
                : read;
    }

    private static String to(String shape) {
        if (DAMAGES.contains(shape)) {
            return "no: Dubbo's reader stores eight bytes into four";
        }
        String read = withDubbo(
                call(shape, asDelivered.called, asDelivered.target),
                () -> call(shape, allowing.called, allowing.target));
        return MISREAD.containsKey(shape) && read.startsWith("the argument") ? "no: " + MISREAD.get(shape) : read;
    }

    private static String withDubbo(@Nullable String wrong, Supplier<@Nullable String> again) {
        if (wrong == null) {
            return WORKS;
        }
        String stillWrong = again.get();
        return stillWrong == null ? ALLOW_LIST : stillWrong;
    }

    @Test
    void everyTypeArrivesAtTernAndAsDocumentedAtDubbo() throws IOException {
        List<Row> rows = SHAPES.keySet().stream()
                .map(shape -> new Row(shape, among(shape), from(shape), to(shape)))
                .toList();

        assertThat(Arrays.stream(TypeService.class.getMethods()).map(Method::getName))
                .as("every method has its row")
                .containsExactlyInAnyOrderElementsOf(SHAPES.keySet());
        assertThat(rows).hasSizeGreaterThanOrEqualTo(60);
        assertThat(rows.stream().filter(row -> !row.among().equals(WORKS))).isEmpty();
        Set<String> known = Set.of(WORKS, ALLOW_LIST);
        assertThat(rows.stream()
                        .filter(row -> !DAMAGES.contains(row.shape()))
                        .filter(row -> MISREAD.containsKey(row.shape())
                                ? !row.to().startsWith("no: ") || !row.from().startsWith("as an argument")
                                : !known.contains(row.from()) || !known.contains(row.to())))
                .isEmpty();
        System.out.printf(
                "R30 type shapes: %d of %d among us, %d from Dubbo and %d to Dubbo as delivered%n",
                rows.stream().filter(row -> row.among().equals(WORKS)).count(),
                rows.size(),
                rows.stream().filter(row -> row.from().equals(WORKS)).count(),
                rows.stream().filter(row -> row.to().equals(WORKS)).count());
        String page = Files.readString(PAGE);
        int table = page.indexOf(HEADER);
        assertThat(table).as("the header of the table in docs/types.md").isPositive();
        String expected = page.substring(0, table) + HEADER + lines(rows);
        if (Boolean.getBoolean("regenerate")) {
            Files.writeString(PAGE, expected);
        }
        assertThat(Files.readString(PAGE))
                .as("docs/types.md; -Dregenerate=true writes it")
                .isEqualTo(expected);
    }

    /** Renders the rows of the table at the end of docs/types.md. */
    private static String lines(List<Row> rows) {
        StringBuilder lines = new StringBuilder();
        for (Row row : rows) {
            lines.append("| ")
                    .append(SHAPES.get(row.shape()))
                    .append(" | ")
                    .append(row.among())
                    .append(" | ")
                    .append(row.from())
                    .append(" | ")
                    .append(row.to())
                    .append(" |\n");
        }
        return lines.toString();
    }
}
