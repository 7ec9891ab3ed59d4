package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Stock;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.WaitingCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/**
 * Tests calls waiting for locks, permits or pooled objects. Other calls hold these locks, permits or objects, but the
 * JVM does not report the holders.
 */
class LikelyHoldersTest {

    private static final int CALLS = 6;

    private final Shop shop = new Shop().healthy(call -> call.own(2));
    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final WaitingCalls calls = new WaitingCalls(shop);

    @AfterEach
    void endThreads() throws InterruptedException {
        answer.complete("");
        calls.join();
    }

    private String firstCause(Runnable call) throws Exception {
        Cause first = calls.firstCause(Collections.nCopies(CALLS, call), steps -> steps.own(2));
        return first.kind() + ": " + first.name();
    }

    @Test
    void waitForAPermitIsTheWaitForThePeerThatTheHoldersCall() throws Exception {
        Semaphore permits = new Semaphore(2);

        assertThat(firstCause(() -> Stock.take(permits, answer)))
                .isEqualTo("SLOW HTTP PEER: called in Stock.Client.ask");
        assertThat(shop.diagnosis().causes().get(0).symptoms())
                .anySatisfy(symptom -> assertThat(symptom).contains("Semaphore wanted in Stock.take"));
    }

    @Test
    void permitsForWhichCallsWaitMuchLongerThanTheWorkTakesAreInTheChange() throws Exception {
        Semaphore permits = new Semaphore(2);

        Cause first =
                calls.firstCause(Collections.nCopies(12, () -> Stock.take(permits, answer)), steps -> steps.own(2));

        assertThat(first.change().text())
                .startsWith("allow more permits if more calls may do this at the same time: calls wait 5 times as"
                        + " long for the"
                        + " Semaphore wanted in Stock.take as they hold it; otherwise ");
    }

    @Test
    void permitsAreNotInTheChangeIfTheWorkTakesAboutAsLongAsTheWait() throws Exception {
        Semaphore permits = new Semaphore(2);
        firstCause(() -> Stock.take(permits, answer));

        assertThat(shop.diagnosis().causes().get(0).change().text()).doesNotContain("more permits");
    }

    @Test
    void codeThatHoldsPermitsIsNamedWithThem() throws Exception {
        Semaphore permits = new Semaphore(2);

        assertThat(firstCause(() -> Stock.count(permits, answer))).isEqualTo("LOCK: Semaphore wanted in Stock.count");
        assertThat(shop.diagnosis().causes().get(0).change().text())
                .contains("hold it for less time in Stock.Count.all:");
        assertThat(shop.diagnosis().causes().get(0).evidence()).noneMatch(line -> line.contains("probably lost"));
    }

    private static Sample sample(double second, Part part, String method) {
        List<StackTraceElement> path = List.of(
                new StackTraceElement("shop.Desk", method, "Desk.java", 9),
                new StackTraceElement("shop.Claims", "score", "Claims.java", 27));
        return new Sample(
                (long) (second * 1e9), Phase.OWN, part, path, null, null, null, false, null, 1_000_000, 2_000_000);
    }

    @ParameterizedTest
    @CsvSource({"16, 5", "8, 0"})
    void callsThatNoSampleShowsAnyMoreWhileOthersWaitHoldNoPermits(int lastHolder, int holders) {
        Part wait = new Part(Part.Kind.LOCK, "Semaphore wanted in Desk.check");
        Part work = new Part(Part.Kind.COMPUTING, "Desk.check");
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            samples.add(sample(lastHolder - i, work, "check"));
            samples.add(sample(20 - i, wait, "check"));
        }

        assertThat(LikelyHolders.holders(wait, samples)).hasSize(holders);
    }

    private static Sample inBooking(double second, Part part, String type, int lineOfBooking) {
        List<StackTraceElement> path = List.of(
                new StackTraceElement("shop." + type, "run", type + ".java", 35),
                new StackTraceElement("shop.FrontDesk", "book", "FrontDesk.java", lineOfBooking));
        return new Sample(
                (long) (second * 1e9), Phase.OWN, part, path, null, null, null, false, null, 1_000_000, 2_000_000);
    }

    @ParameterizedTest
    @CsvSource({"39, 0", "44, 5", "47, 5"})
    void callsThatHaveNotReachedTheLineOfTheWaitHoldNothing(int lineOfWork, int holders) {
        Part wait = new Part(Part.Kind.RESULT, "AuditTrail.run");
        Part work = new Part(Part.Kind.SLEEP, "Allotment.run");
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            samples.add(inBooking(20 - i, work, "Allotment", lineOfWork));
            samples.add(inBooking(20 - i, wait, "AuditTrail", 44));
        }

        assertThat(LikelyHolders.holders(wait, samples)).hasSize(holders);
    }

    @Test
    void operationDuringWhichCallsHoldALockWithoutAnOwnerIsInTheChange() throws Exception {
        Shop rates = new Shop().healthy(call -> call.own(2).in(Phase.HTTP, "GET rates:80", 3));
        AtomicBoolean isFirst = new AtomicBoolean(true);
        WaitingCalls callers = new WaitingCalls(rates).after(ledger -> {
            if (isFirst.getAndSet(false)) {
                ledger.enter(Phase.HTTP);
            }
        });
        StampedLock lock = new StampedLock();
        AtomicInteger number = new AtomicInteger();

        Cause first = callers.firstCause(Collections.nCopies(CALLS, () -> Stock.refresh(lock, answer)), steps -> {
            if (number.getAndIncrement() % 20 == 0) {
                steps.in(Phase.HTTP, "GET weather:80", 260);
            }
        });
        answer.complete("");
        callers.join();

        assertThat(DiagnosisText.title(first)).isEqualTo("LOCK: StampedLock wanted in Stock.refresh");
        assertThat(first.change().text())
                .startsWith("hold the lock for less time in Stock.Count.all:")
                .contains(
                        "where calls most likely hold it; wanted in Stock.refresh:",
                        "do not hold it during an HTTP exchange");
    }

    @Test
    void permitsWithoutAHolderAreTheCause() throws Exception {
        Semaphore permits = new Semaphore(0);
        try {
            assertThat(firstCause(() -> Stock.take(permits, answer))).isEqualTo("LOCK: Semaphore wanted in Stock.take");
            assertThat(shop.diagnosis().causes().get(0).evidence())
                    .contains("held     no sample shows what the holders of the permits do; if nobody uses them, they"
                            + " were not returned");
        } finally {
            answer.complete("");
            permits.release();
        }
    }

    private static Sample sample(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return SampledCalls.sample(
                Phase.OWN, new ThreadSnapshot("http-1", 1, Thread.State.WAITING, stack, null, null, -1, -1));
    }

    /**
     * Simulates calls with five samples each: one sample shows work, and the others show a wait. Returns the cause that
     * the diagnosis names first.
     */
    private static Cause firstCause(int position, Sample work, Sample wait) {
        AtomicInteger look = new AtomicInteger();
        return new SampledCalls()
                .usuallyOwn("Depot.start", 3, 20)
                .calls(
                        "Depot.start",
                        Phase.OWN,
                        700,
                        samples -> samples.add(look.getAndIncrement() % 5 == position ? work : wait))
                .causes()
                .get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "java.net.InetAddress/getByName, depot.Hosts/check",
        "sun.nio.ch.NioSocketImpl/read, depot.Sockets/ask",
        "sun.nio.ch.FileDispatcherImpl/read0, depot.Files/load"
    })
    void codeThatCallsRunBeforeTheyWaitDoesNotHoldThePermit(String innermost, String code) {
        Cause first = firstCause(
                0,
                sample(innermost, code, "depot.Depot/start"),
                sample("java.util.concurrent.Semaphore/tryAcquire", "depot.Bank/preauth", "depot.Depot/start"));

        assertThat(DiagnosisText.title(first)).isEqualTo("LOCK: Semaphore wanted in Bank.preauth");
        assertThat(first.change().text()).startsWith("release each permit in a finally block");
    }

    @Test
    void workForWhichCallsOccupyAPlaceInAQueueIsTheCause() {
        Cause first = firstCause(
                4,
                sample("java.lang.Thread/sleep", "depot.Printer/print", "depot.Depot/start"),
                sample(
                        "jdk.internal.misc.Unsafe/park",
                        "java.util.concurrent.ArrayBlockingQueue/put",
                        "depot.Depot/start"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE SLEEPS: Printer.print");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("a free place in a queue in Depot.start"));
    }

    @Test
    void waitForAnObjectOfAQueueIsTheWaitForThePeerThatItsUsersCall() throws Exception {
        BlockingQueue<Object> clients = new LinkedBlockingQueue<>(List.of("client 1", "client 2"));

        assertThat(firstCause(() -> Stock.takeFrom(clients, answer)))
                .isEqualTo("SLOW HTTP PEER: called in Stock.Client.ask");
    }

    @Test
    void emptyQueueIsTheCauseIfNoCallUsesItsObjects() throws Exception {
        BlockingQueue<Object> clients = new LinkedBlockingQueue<>();
        try {
            assertThat(firstCause(() -> Stock.takeFrom(clients, answer)))
                    .isEqualTo("WAITS FOR A RESULT: Stock.Clients.borrow");
            assertThat(shop.diagnosis().causes().get(0).change().text()).contains("if it is a pool");
        } finally {
            answer.complete("");
            clients.add("client");
        }
    }
}
