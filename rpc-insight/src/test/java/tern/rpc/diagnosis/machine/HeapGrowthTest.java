package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.HeapGrowth.Old;
import tern.rpc.diagnosis.machine.HeapGrowth.Use;

/** Tests that a heap that is filling up is distinguished from an application that only allocates a lot. */
class HeapGrowthTest {

    private static final long MEGABYTE = 1_000_000;
    private static final double HEAP = 1e9;

    /** Returns the used memory after garbage collections of the same kind, with the given time between them. */
    private static List<Use> uses(double secondsBetween, boolean major, Old old, long... megabytes) {
        List<Use> uses = new ArrayList<>();
        for (long used : megabytes) {
            long at = (long) (uses.size() * secondsBetween * TimeUnit.SECONDS.toNanos(1));
            uses.add(new Use(at, used * MEGABYTE, major, old));
        }
        return uses;
    }

    @Test
    void heapThatFillsWithinSecondsHasARateAndATimeUntilItIsFull() {
        HeapGrowth growth = HeapGrowth.of(uses(1, false, Old.FREES, 250, 300, 380, 460, 540, 620, 700), HEAP, 0);

        assertThat(growth).isNotNull();
        assertThat(growth.line(310e6))
                .isEqualTo("fills    from 25 % to 70 % of the heap in 6 s: 75 MB/s of 310 MB/s allocated are kept");
        assertThat(growth.untilFull()).isEqualTo("at this rate, the heap is full in about 4 s");
    }

    /**
     * Returns the growth that is computed if G1 runs a young or mixed collection every second and the given amounts of
     * memory are used in successive minutes.
     */
    private static @Nullable HeapGrowth slowGrowth(boolean marks, long... megabytesOfMinutes) {
        LeastUses least = new LeastUses();
        long at = 0;
        for (long used : megabytesOfMinutes) {
            for (int second = 0; second < 60; second++) {
                at += TimeUnit.SECONDS.toNanos(1);
                long garbage = second % 20;
                least.add(new Use(at, (used + garbage) * MEGABYTE, false, Old.FREES_MARKED));
            }
            if (marks) {
                least.add(new Use(at, (used + 30) * MEGABYTE, false, Old.MARKS));
            }
        }
        return least.growth(at, HEAP, 0.03);
    }

    @Test
    void heapThatFillsMinuteByMinuteIsFound() {
        HeapGrowth growth = slowGrowth(true, 300, 370, 440, 500, 570, 640, 700);

        assertThat(growth).isNotNull();
        assertThat(growth.line(-1)).startsWith("fills    from 30 % to 70 % of the heap in 36");
    }

    @Test
    void heapWhoseOldObjectsMayBeGarbageIsNotFound() {
        assertThat(slowGrowth(false, 300, 370, 440, 500, 570, 640, 700)).isNull();
        assertThat(slowGrowth(false, 300, 400, 500, 600, 700, 800, 860)).isNotNull();
    }

    @Test
    void heapThatDoesNotGrowOverMinutesIsNotFound() {
        assertThat(slowGrowth(true, 640, 640, 650, 640, 645, 650)).isNull();
        assertThat(slowGrowth(true, 300, 450, 600, 700, 320, 350)).isNull();
        assertThat(slowGrowth(true, 300, 700, 750)).isNull();
    }

    @Test
    void heapThatACacheHasFilledBeforeIsNotFound() {
        assertThat(slowGrowth(true, 300, 500, 700, 700, 700, 700, 700)).isNull();
        assertThat(slowGrowth(true, 300, 500, 600, 650, 675, 688, 694, 697, 698, 699))
                .isNull();
        assertThat(slowGrowth(true, 300, 300, 300, 380, 460, 540, 620, 700)).isNotNull();
    }

    @Test
    void markingBeforeTheGrowthDoesNotShowThatTheGrownPartIsInUse() {
        LeastUses least = new LeastUses();
        for (int minute = 0; minute < 10; minute++) {
            long at = TimeUnit.MINUTES.toNanos(minute);
            least.add(new Use(at, (100 + 60L * minute) * MEGABYTE, false, minute == 1 ? Old.MARKS : Old.FREES_MARKED));
        }

        assertThat(least.growth(TimeUnit.MINUTES.toNanos(9), HEAP, 0.03)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "1, false, FREES, '300 310 305 290 300 310 305'", // The application allocates a lot and keeps nothing.
        "1, false, FREES, '700 690 710 700 705 695 700'", // The application has a large cache that does not grow.
        "1, false, FREES, '300 400 500 600 700 310 320'", // The used memory falls when old objects are freed.
        "1, false, FREES, '100 160 220 280 340 400 450'", // Old objects have not been collected yet.
        "20, false, FREES, '500 540 580 620 660 700'", // The used memory grows slowly.
        "1, false, FREES, '300 500 700'", // There are too few garbage collections to tell whether the heap grows.
        "1, false, KEEPS, '300 400 500 600 700 800 900'", // Young collections do not free old objects.
        "1, false, FREES_MARKED, '400 470 540 610 680 750'", // G1 has not marked old garbage yet.
        "2, true, KEEPS, '400 410 405 400'",
        "15, true, KEEPS, '300 690 700 701'", // The application has filled a cache.
    })
    void heapThatDoesNotFillSoonHasNoGrowth(double secondsBetween, boolean major, Old old, String used) {
        long[] megabytes =
                List.of(used.split(" ")).stream().mapToLong(Long::parseLong).toArray();

        assertThat(HeapGrowth.of(uses(secondsBetween, major, old, megabytes), HEAP, 0))
                .isNull();
    }

    @Test
    void survivorsThatVaryBetweenCollectionsDoNotHideTheGrowth() {
        long[] megabytes = new long[40];
        for (int i = 0; i < megabytes.length; i++) {
            megabytes[i] = 260L + 10 * i + (i % 2 == 0 ? 0 : 30);
        }

        assertThat(HeapGrowth.of(uses(0.5, false, Old.FREES, megabytes), HEAP, 0))
                .isNotNull();
    }

    @Test
    void twoMajorCollectionsThatFreeLessAndLessAreEnough() {
        assertThat(HeapGrowth.of(uses(5, true, Old.KEEPS, 400, 600), HEAP, 0)).isNotNull();
    }

    /** Returns the used memory after young collections, and after one major collection that ends the list. */
    private static List<Use> endedByMajor(long afterMajor, long... megabytes) {
        List<Use> uses = new ArrayList<>(uses(4, false, Old.KEEPS, megabytes));
        long at = uses.size() * TimeUnit.SECONDS.toNanos(4);
        uses.add(new Use(at, afterMajor * MEGABYTE, true, Old.KEEPS));
        return uses;
    }

    @Test
    void oneMajorCollectionThatFreesLittleConfirmsTheGrowthBeforeIt() {
        HeapGrowth growth = HeapGrowth.of(endedByMajor(720, 200, 320, 450, 580, 700, 790), HEAP, 0);

        assertThat(growth).isNotNull();
        assertThat(growth.isSoon()).isTrue();
        assertThat(growth.line(-1)).startsWith("fills    from 20 % to 72 % of the heap in 24 s: 22 MB/s");
    }

    @Test
    void majorCollectionThatEmptiesTheHeapEndsTheSuspicion() {
        assertThat(HeapGrowth.of(endedByMajor(230, 200, 320, 450, 580, 700, 790), HEAP, 0))
                .isNull();

        List<Use> emptiedAfterwards = endedByMajor(720, 200, 320, 450, 580, 700, 790);
        emptiedAfterwards.add(new Use(TimeUnit.SECONDS.toNanos(30), 240 * MEGABYTE, true, Old.KEEPS));
        assertThat(HeapGrowth.of(emptiedAfterwards, HEAP, 0)).isNull();
    }

    @Test
    void cacheThatReachedItsBoundBeforeTheMajorCollectionIsNoGrowth() {
        assertThat(HeapGrowth.of(endedByMajor(720, 200, 600, 710, 715, 720, 725, 730), HEAP, 0))
                .isNull();
    }

    @Test
    void majorCollectionsThatFollowEachOtherShowThatANearlyFullHeapFills() {
        HeapGrowth growth = HeapGrowth.of(uses(3, true, Old.KEEPS, 840, 870, 900), HEAP, 0);

        assertThat(growth).isNotNull();
        assertThat(growth.untilFull()).isEqualTo("at this rate, the heap is full in about 10 s");
        assertThat(HeapGrowth.of(uses(3, true, Old.KEEPS, 900, 901, 900), HEAP, 0))
                .isNull();
        assertThat(HeapGrowth.of(uses(40, true, Old.KEEPS, 840, 870, 900), HEAP, 0))
                .isNull();
    }

    @Test
    void heapOfWhichOnlyAThirdIsUsedWillNotBeFullSoon() {
        assertThat(new HeapGrowth(0.1, 0.35, 20, 12e6, 52).isSoon()).isFalse();
        assertThat(new HeapGrowth(0.1, 0.65, 600, 1e6, 400).isSoon()).isFalse();
        assertThat(new HeapGrowth(0.1, 0.65, 20, 27e6, 13).isSoon()).isTrue();
    }

    /** Returns the used memory after young collections of G1, and after the two pauses of one marking cycle. */
    private static List<Use> usesOfG1(int youngBefore, long... megabytes) {
        List<Use> uses = new ArrayList<>(uses(1, false, Old.FREES_MARKED, megabytes));
        Use before = uses.get(youngBefore - 1);
        uses.add(youngBefore, new Use(before.atNanos() + 1, before.bytes(), false, Old.MARKS));
        uses.add(youngBefore, new Use(before.atNanos() + 1, before.bytes(), false, Old.MARKS));
        return uses;
    }

    @Test
    void useThatGrowsAfterAMarkingOfG1IsGrowth() {
        assertThat(HeapGrowth.of(usesOfG1(3, 400, 470, 540, 610, 680, 750), HEAP, 0))
                .isNotNull();
        assertThat(HeapGrowth.of(usesOfG1(5, 400, 470, 540, 610, 680, 750), HEAP, 0))
                .isNull();
    }

    @Test
    void useOfNearlyTheWholeHeapNeedsNoMarking() {
        assertThat(HeapGrowth.of(uses(1, false, Old.FREES_MARKED, 400, 500, 600, 700, 780, 830), HEAP, 0))
                .isNotNull();
    }

    @Test
    void useThatGrowsWhileCollectionsStopTheProcessNeedsNoKnownMarking() {
        List<Use> uses = uses(2, false, Old.FREES_MARKED, 260, 340, 420, 500, 580, 670);

        assertThat(HeapGrowth.of(uses, HEAP, 0.16)).isNotNull();
        assertThat(HeapGrowth.of(uses, HEAP, 0.04)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "G1 Young Generation, FREES_MARKED",
        "G1 Concurrent GC, MARKS",
        "ZGC Major Cycles, FREES",
        "ZGC Minor Cycles, KEEPS",
        "PS Scavenge, KEEPS"
    })
    void collectorsDifferInWhatTheyDoWithOldObjects(String collector, Old old) {
        assertThat(CollectorLog.old(collector)).isEqualTo(old);
    }

    @Test
    void majorCollectionBecauseOfClassMetadataIsNoBeginOfAGrowth() {
        assertThat(CollectorLog.freesAll("end of major GC", "Allocation Failure"))
                .isTrue();
        assertThat(CollectorLog.freesAll("end of major GC", "Metadata GC Threshold"))
                .isFalse();
    }

    @Test
    void flatUseAfterMajorCollectionsOutweighsTheGrowthBetweenThem() {
        List<Use> uses = new ArrayList<>(uses(1, false, Old.FREES, 300, 400, 500, 600, 700, 800));
        uses.add(0, new Use(-2, 300 * MEGABYTE, true, Old.FREES));
        uses.add(1, new Use(-1, 300 * MEGABYTE, true, Old.FREES));

        assertThat(HeapGrowth.of(uses, HEAP, 0)).isNull();
    }

    @Test
    void growthOfTheLastMinuteIsReadFromTheCollections() {
        CollectorLog log = new CollectorLog();
        long heap = Runtime.getRuntime().maxMemory();
        for (Use use : uses(1, false, Old.FREES, 300, 380, 460, 540, 620, 700)) {
            log.addUse(new Use(use.atNanos(), (long) (heap * (use.bytes() / HEAP)), false, Old.FREES));
        }

        assertThat(log.growth(TimeUnit.SECONDS.toNanos(6), 0)).isNotNull();
        assertThat(log.growth(TimeUnit.SECONDS.toNanos(66), 0)).isNull();
    }

    @Test
    void liveShareIsReadFromTheLastEightCollections() {
        CollectorLog log = new CollectorLog();
        long heap = Runtime.getRuntime().maxMemory();
        for (int i = 0; i < 9; i++) {
            log.addUse(new Use(i, (long) (heap * (i == 0 ? 0.1 : 0.5)), false, Old.FREES));
        }

        assertThat(log.live(10)).isBetween(0.49, 0.51);
    }

    private static SampledCalls pausedWhileAdding(String called) {
        List<StackTraceElement> path = List.of(new StackTraceElement("shop.Quotes", "keep", "Quotes.java", 57));
        Part part = new Part(Part.Kind.COMPUTING, "Quotes.keep");
        return new SampledCalls()
                .pausedMillis(250)
                .calls(
                        "OrderService.place",
                        Phase.OWN,
                        300,
                        samples -> samples.add(
                                new Sample(0, Phase.OWN, part, path, called, null, null, false, null, -1, -1)));
    }

    @Test
    void codeThatAddsToACollectionIsNamedWhileTheHeapFills() {
        Cause first = pausedWhileAdding("HashMap.put")
                .growing(new HeapGrowth(0.2, 0.64, 12, 45e6, 20))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("COLLECTOR: heap fills");
        assertThat(first.change().text())
                .startsWith("limit the size of caches")
                .contains("check first Quotes.keep:57, which calls HashMap.put")
                .endsWith("at this rate, the heap is full in about 20 s");
        assertThat(first.evidence())
                .anyMatch(line -> line.startsWith("fills    from 20 % to 64 % of the heap in 12 s"));
    }

    @Test
    void collectorOfAHeapThatDoesNotFillNeedsFewerObjects() {
        Cause first = pausedWhileAdding("HashMap.put").causes().get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("COLLECTOR");
        assertThat(first.change().text()).startsWith("create fewer or smaller objects per call");
    }

    /** Calls whose statement and exchange became slower, while the collector stops the process. */
    private static SampledCalls slowerTogether(double statementMillis) {
        SampledCalls calls = new SampledCalls()
                .usually("OrderService.place", Phase.SQL, "GET stock:80", 2)
                .usually("OrderService.offers", Phase.HTTP, "GET stock:80", 20)
                .pausedMillis(60);
        for (int i = 0; i < 6; i++) {
            calls.calls("OrderService.place", Phase.SQL, statementMillis, samples -> {})
                    .calls("OrderService.offers", Phase.HTTP, 130, samples -> {});
        }
        return calls;
    }

    @Test
    void heapThatFillsIsTheCauseWhenEverythingBecomesSlower() {
        Cause first = slowerTogether(150)
                .growing(new HeapGrowth(0.26, 0.67, 12, 10e6, 8))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("COLLECTOR: heap fills");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("while the heap fills, calls take longer in"));
        assertThat(DiagnosisText.title(slowerTogether(150).causes().get(0))).doesNotStartWith("COLLECTOR: heap");
    }

    @Test
    void statementThatTakesMuchLongerThanThePausesStaysTheCauseWhileTheHeapFills() {
        Cause first = slowerTogether(900)
                .growing(new HeapGrowth(0.26, 0.67, 12, 10e6, 8))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW STATEMENT: GET stock:80");
    }

    private static List<Cause> causesWhileCollectorThreadsTakeTheProcessors(double collectorThreads) {
        StackTraceElement line = new StackTraceElement("shop.Prices", "sum", "Prices.java", 9);
        Machine busy = new Machine(
                2,
                1.7,
                0.3,
                0,
                0.06,
                0.7,
                "G1 Evacuation Pause",
                9e6,
                9e6,
                List.of(),
                collectorThreads,
                null,
                List.of());
        return new SampledCalls()
                .pausedMillis(30)
                .on(busy)
                .growing(new HeapGrowth(0.3, 0.7, 300, 1e6, 300))
                .calls("OrderService.place", Phase.OWN, 300, samples -> {
                    Part part = samples.list.size() % 2 == 0
                            ? Part.of(Part.Kind.RUN_QUEUE)
                            : new Part(Part.Kind.COMPUTING, "Prices.sum");
                    samples.add(new Sample(0, Phase.OWN, part, List.of(line), null, null, null, false, null, -1, -1));
                })
                .causes();
    }

    @Test
    void collectorThreadsThatTakeTheProcessorsWhileTheHeapFillsAreTheCollector() {
        assertThat(causesWhileCollectorThreadsTakeTheProcessors(1.2).get(0).kind())
                .isEqualTo("COLLECTOR: heap fills");
        assertThat(causesWhileCollectorThreadsTakeTheProcessors(0.1).get(0).kind())
                .isNotEqualTo("COLLECTOR: heap fills");
    }
}
