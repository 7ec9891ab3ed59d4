package tern.rpc.netty.streams;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;
import tern.rpc.netty.streams.WebCaller.Form;

/**
 * Tests many concurrent streams on one connection. Every message must arrive once and in order, every stream must end
 * as planned, and no resource may remain in use. The id of a stream selects its Java signature, so four streams cover
 * all signatures. Some readers are slow, and some read nothing until all other streams have ended.
 *
 * <p>The test with the {@code figures} tag runs all cases with up to 1,000 streams. {@code tern.streams.repetitions}
 * sets the number of repetitions, and {@code tern.streams.seed} replays the times of cancellations and deadlines
 * (docs/threads.md).
 */
@Timeout(1_800)
class ManyStreamsTest extends StreamsOfOneConnection {

    /**
     * Returns plans for streams with messages up to the given size. If there are many streams, their readers have
     * different speeds.
     */
    private static List<FeedPlan> plans(Way way, int streams, int messages, int bytes) {
        return IntStream.range(0, streams)
                .mapToObj(id -> FeedPlan.of(way, id, messages, bytes).reading(reading(id)))
                .toList();
    }

    private static Reading reading(int id) {
        if (id % 5 == 3) {
            return Reading.ONE_BY_ONE;
        }
        return id % 16 == 7 ? Reading.PAUSED : Reading.EAGER;
    }

    private static void run(Wire wire, List<Way> ways, int streams, int messages, int bytes) throws Exception {
        try (FeedCaller caller = wire.connect()) {
            for (Way way : ways) {
                sides.run(caller, plans(way, streams, messages, bytes));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneStreamEnds(Wire wire) throws Exception {
        try (FeedCaller caller = wire.connect()) {
            for (Way way : wire.ways()) {
                for (int id = 0; id < 4; id++) {
                    sides.run(caller, List.of(FeedPlan.of(way, id, 40, 4 << 10)));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void fourStreamsEnd(Wire wire) throws Exception {
        run(wire, wire.ways(), 4, 48, 4 << 10);
    }

    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY", "GRPC_SERVER", "GENERATED_SERVICE"})
    void fiftyStreamsEnd(Wire wire) throws Exception {
        run(wire, List.of(Way.DOWN), 50, 16, 4 << 10);
    }

    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY"})
    void thousandStreamsEnd(Wire wire) throws Exception {
        run(wire, List.of(Way.DOWN), 1_000, 3, 16 << 10);
    }

    /** Uses 100-byte messages, so that a large number of messages are waiting at the same time. */
    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY", "GRPC_CLIENT"})
    void streamsOfSmallMessagesEnd(Wire wire) throws Exception {
        run(wire, List.of(Way.DOWN), 4, 2_000, 100);
    }

    /**
     * If a server fails a stream of requests, it also resets the stream, because it does not need the remaining
     * requests.
     */
    @ParameterizedTest
    @EnumSource
    void streamsThatTheServerEndsEarlyDoNotEndTheirConnection(Wire wire) throws Exception {
        try (FeedCaller caller = wire.connect()) {
            for (Way way : wire.ways()) {
                sides.run(
                        caller,
                        IntStream.range(0, 250)
                                .mapToObj(
                                        id -> FeedPlan.of(way, id, 100, 1 << 10).failingAt(1))
                                .toList());
            }
        }
    }

    /**
     * A kind of client. The test chooses the flow-control window of either the client or the server that the client
     * calls.
     */
    private record Windows(String name, boolean ofEvents, Function<Integer, FeedCaller> caller) {

        @Override
        public String toString() {
            return name;
        }

        static Stream<Windows> all() {
            return Stream.concat(
                    Arrays.stream(Form.values())
                            .map(form -> new Windows(
                                    form.name(), form == Form.EVENTS, window -> sides.webCaller(form, window))),
                    Stream.of(
                            new Windows("GRPC_CLIENT", false, window -> sides.grpcCaller(window)),
                            new Windows(
                                    "GENERATED_SERVICE",
                                    false,
                                    window -> new GrpcCaller(sides.port(), GrpcMethods.LEDGER, window, false)),
                            new Windows("GRPC_SERVER", false, window -> sides.ternCallerOfGrpc(window))));
        }
    }

    static Stream<Arguments> allWindows() {
        return windows(1, 100, 16 << 10, 65_535, 1 << 20);
    }

    static Stream<Arguments> someWindows() {
        return windows(1, 16 << 10, 65_535);
    }

    private static Stream<Arguments> windows(Integer... sizes) {
        return Windows.all().flatMap(windows -> Arrays.stream(sizes).map(window -> Arguments.of(windows, window)));
    }

    @ParameterizedTest
    @MethodSource("someWindows")
    void messagesLargerAndSmallerThanTheWindowArrive(Windows windows, int window) throws Exception {
        runWindow(windows, window, 4);
    }

    private static void runWindow(Windows windows, int window, int streams) throws Exception {
        try (FeedCaller caller = windows.caller().apply(window)) {
            int larger = window * 3 / 2 + 8;
            int smaller = Math.max(8, window / 4);
            for (Way way : Wire.ways(windows.ofEvents())) {
                sides.run(caller, plans(way, streams, 3, larger));
                sides.run(caller, plans(way, streams, window == 1 ? 3 : 12, smaller));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelsAndDeadlinesAtAnyMomentEndTheirStreamAlone(Wire wire) throws Exception {
        runRandom(wire, 24, FeedsSides.property("seed", 20_880));
    }

    private static void runRandom(Wire wire, int streams, long seed) throws Exception {
        Random random = new Random(seed);
        try (FeedCaller caller = wire.connect()) {
            for (Way way : wire.ways()) {
                List<FeedPlan> plans = new ArrayList<>();
                for (FeedPlan plan : plans(way, streams, 16, 4 << 10)) {
                    plans.add(withEnd(plan, random));
                }
                sides.run(caller, plans);
            }
        } catch (AssertionError e) {
            throw new AssertionError("-Dtern.streams.seed=" + seed + ": " + e.getMessage(), e);
        }
    }

    private static FeedPlan withEnd(FeedPlan plan, Random random) {
        int message = 1 + random.nextInt(plan.messages());
        return switch (random.nextInt(5)) {
            case 0 -> plan.cancelledAt(message);
            case 1 -> plan.within(Duration.ofMillis(1 + random.nextInt(100)));
            case 2 -> plan.failingAt(message);
            case 3 -> plan.cancelledAt(message).within(Duration.ofMillis(1 + random.nextInt(100)));
            default -> plan;
        };
    }

    /**
     * Runs streams in all directions on one connection, with message sizes up to 128 KiB, all reader speeds and all
     * ways of ending a stream.
     */
    @ParameterizedTest
    @EnumSource
    void mixOfStreamsEnds(Wire wire) throws Exception {
        runMix(wire, 30, FeedsSides.property("seed", 20_880));
    }

    private static void runMix(Wire wire, int streams, long seed) throws Exception {
        Random random = new Random(seed);
        try (FeedCaller caller = wire.connect()) {
            sides.run(
                    caller,
                    IntStream.range(0, streams)
                            .mapToObj(id -> anyPlan(wire.ways(), id, random))
                            .toList());
        } catch (AssertionError e) {
            throw new AssertionError("-Dtern.streams.seed=" + seed + ": " + e.getMessage(), e);
        }
    }

    private static FeedPlan anyPlan(List<Way> ways, int id, Random random) {
        Way way = ways.get(random.nextInt(ways.size()));
        int bytes = 1 << random.nextInt(18);
        int messages = 1 + random.nextInt(Math.min(300, (1 << 20) / bytes));
        FeedPlan plan = FeedPlan.of(way, id, messages, bytes).reading(anyReading(messages * bytes, random));
        return random.nextInt(3) == 0 ? withEnd(plan, random) : plan;
    }

    /**
     * Chooses a reader speed at random. A stream is paused only if its messages fit into the flow-control window of a
     * plain HTTP/2 client.
     */
    private static Reading anyReading(int allBytes, Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> allBytes < 60_000 ? Reading.PAUSED : Reading.EAGER;
            case 1 -> Reading.ONE_BY_ONE;
            default -> Reading.EAGER;
        };
    }

    /** Repeats all cases of this class. */
    @ParameterizedTest
    @EnumSource
    @Tag("figures")
    void allLoadsEndInEachRepetition(Wire wire) throws Exception {
        long seed = FeedsSides.property("seed", System.nanoTime());
        for (long i = FeedsSides.property("repetitions", 3); i > 0; i--) {
            oneStreamEnds(wire);
            for (int streams : new int[] {4, 50, 1_000}) {
                run(wire, wire.ways(), streams, 24, 4 << 10);
                run(wire, wire.ways(), streams, 200, 100);
                runRandom(wire, streams, seed++);
            }
            runMix(wire, 1 + (int) (i % 200), seed++);
            if (wire != Wire.EVENTS) {
                runBesideUnread(wire, 200, 20, 64 << 10);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("allWindows")
    @Tag("figures")
    void allWindowsWorkInEachRepetition(Windows windows, int window) throws Exception {
        for (long i = FeedsSides.property("repetitions", 3); i > 0; i--) {
            for (int streams : new int[] {1, 4, 50}) {
                runWindow(windows, window, streams);
            }
        }
    }
}
