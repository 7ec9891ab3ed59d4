package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Housekeeping;
import shop.Newsletter;
import shop.Packages;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.pool.Holders;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Tests which causes the diagnosis names for the time of waits. Also tests that the ranking of causes is consistent
 * with the number of late or failed calls that would meet the latency target without the cause.
 */
class PassedOnTimeTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2)
            .in(Phase.SQL, "select stock", 3)
            .in(Phase.REDIS, "GET user:*", 0.4)
            .in(Phase.HTTP, "GET carrier:80", 5);

    private final Shop shop = new Shop();
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Machine machine(double own, double others, double collecting) {
        return machine(own, others, collecting, "G1 Evacuation Pause");
    }

    private static Machine machine(double own, double others, double collecting, String cause) {
        return new Machine(2, own, others, 0, collecting, 0.3, cause, 100e6, 90e6, List.of(), 0, null, List.of());
    }

    private static IllegalStateException noResource() {
        return new IllegalStateException(new JedisException("Could not get a resource from the pool"));
    }

    /** An exception with the same simple name as the exception that Jedis throws if its pool is exhausted. */
    private static final class JedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        JedisException(String message) {
            super(message);
        }
    }

    private Diagnosis missWithFailures(Supplier<Throwable> failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure.get(), calls);
                }
            });
        }
        return shop.diagnosis();
    }

    private static Cause first(Diagnosis diagnosis) {
        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.MISS);
        return diagnosis.causes().get(0);
    }

    /** Starts ten threads that each hold a connection, like threads waiting in BLPOP. */
    private Holders blockingThreads() throws InterruptedException {
        Holders holders = new Holders();
        holders.size(10);
        CountDownLatch all = new CountDownLatch(10);
        for (int i = 0; i < 10; i++) {
            Thread thread = new Thread(
                    () -> Housekeeping.pop(holders, shop.now(), "BLPOP housekeeping", all, end),
                    "housekeeping-queue-" + i);
            threads.add(thread);
            thread.start();
        }
        all.await();
        return holders;
    }

    private void redisPool(Holders holders) {
        long[] taken = new long[1];
        // Each of the ten connections is in use for almost a second, then free for a moment.
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 10)
                        .now(10, 0, 4)
                        .counts(++taken[0] * 10, taken[0])
                        .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 9_900))
                        .settings(List.of())
                        .build(),
                holders));
    }

    @Test
    void exceptionAfterAPeersFailureIsTheFailureOfThePeer() {
        shop.healthy(USUAL);

        Diagnosis miss = missWithFailures(
                () -> new IllegalStateException("the carrier does not answer"),
                call -> call.own(80).in(Phase.HTTP, "GET carrier:80 (503)", 4));

        Cause cause = first(miss);
        assertThat(cause.kind() + ": " + cause.name()).as(miss.text()).isEqualTo("PEER FAILS: GET carrier:80 (503)");
    }

    @Test
    void poolOfRedisThatThreadsOutsideOfCallsBlockIsHeldByThem() throws Exception {
        shop.healthy(USUAL);
        redisPool(blockingThreads());

        Diagnosis miss = missWithFailures(
                PassedOnTimeTest::noResource,
                call -> call.own(1)
                        .in(Phase.LOGGING, null, 0.2)
                        .in(Phase.REDIS, "GET user:*", 0.5)
                        .in(Phase.REDIS_CONNECTION, "jedis", 200));

        Cause cause = first(miss);
        assertThat(cause.kind() + ": " + cause.name()).as(miss.text()).isEqualTo("HELD BY OTHERS: jedis");
        assertThat(cause.change().text())
                .contains("blocking command BLPOP housekeeping")
                .contains("Housekeeping.pop")
                .contains("thread housekeeping-queue*");
        assertThat(cause.saves()).isEqualTo(1);
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void poolOfRedisIsHeldByOthersIfCallsUseLittleOfItAlthoughNoHolderIsKnown() {
        shop.healthy(USUAL);
        redisPool(new Holders());

        Diagnosis miss = shop.miss(call -> call.own(1)
                .in(Phase.LOGGING, null, 0.2)
                .in(Phase.REDIS_CONNECTION, "jedis", 180)
                .in(Phase.REDIS, "GET user:*", 0.6));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("HELD BY OTHERS");
        assertThat(first(miss).change().text()).contains("threads that serve no call");
    }

    @Test
    void poolWhoseConnectionsAreNeverReturnedIsHeldByOthersAndNotByTheLittleWorkOfCalls() {
        // Streams have kept all connections since before the miss, so none was taken or returned meanwhile.
        shop.pools.add(() -> PoolSnapshot.builder("http-weather", PoolKind.HTTP, 6)
                .now(6, -1, 11)
                .counts(900, 40)
                .sums(Duration.ZERO, Duration.ZERO)
                .settings(List.of())
                .build());
        shop.healthy(USUAL);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 6e6);
            return stood;
        };

        Diagnosis miss = shop.miss(
                call -> call.own(1).in(Phase.LOGGING, null, 1.2).in(Phase.HTTP_CONNECTION, "http-weather", 3_000));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("HELD BY OTHERS: http-weather");
        assertThat(first(miss).change().text()).contains("such as streams (server-sent events)");
    }

    @Test
    void pausesDuringALongWaitForAWorkerAreNotTheWorkOfTheWorkers() {
        shop.healthy(USUAL);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.08);
            return stood;
        };

        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 3_600, steps -> steps.own(2).in(Phase.SQL, "select stock", 190));
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW STATEMENT");
    }

    @Test
    void threadsThatHoldConnectionsOfAnHttpPoolAreNamedBySamples() throws Exception {
        long[] taken = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("http", PoolKind.HTTP, 10)
                .now(10, 0, 4)
                .counts(++taken[0] * 10, taken[0])
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 9_900))
                .settings(List.of())
                .build());
        shop.healthy(USUAL);
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread poller = new Thread(() -> Newsletter.mail(answer), "forecast-1");
        poller.start();
        OutsideOperations.clear();
        Thread before = new Thread(
                () -> OutsideOperations.ran(Phase.HTTP, "GET grid:80/forecast", 2_000_000_000L), "forecast-2");
        before.start();
        before.join();
        WaitingCalls waiting = new WaitingCalls(shop).after(ledger -> ledger.enter(Phase.HTTP_CONNECTION, "http"));

        Cause first = waiting.firstCause(
                () -> Packages.of(answer),
                call -> call.own(1).in(Phase.HTTP_CONNECTION, "http", 180).in(Phase.HTTP, "GET stock:80", 0.6));
        answer.complete("");
        poller.join();
        waiting.join();
        OutsideOperations.clear();

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("HELD BY OTHERS");
        assertThat(first.change().text())
                .startsWith("give the connection back sooner in Newsletter.mail:")
                .endsWith("(thread forecast*), or use a separate pool for it: GET grid:80/forecast takes 2000 ms");
    }

    @Test
    void collectorIsASymptomOfLargeRequests() {
        shop.machine = machine(0.3, 0.1, 0);
        shop.healthy(USUAL);
        shop.machine = machine(0.8, 0.1, 0.2);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.6);
            return stood;
        };

        Diagnosis miss = shop.miss(call -> {
            Phase outer = call.ledger.turnTo(Phase.DECODE);
            shop.pass(110);
            call.ledger.turnTo(outer);
            USUAL.accept(call);
        });

        Cause cause = first(miss);
        assertThat(cause.kind()).as(miss.text()).isEqualTo("LARGE REQUESTS");
        assertThat(cause.change().text()).contains("smaller requests of OrderService.place");
        assertThat(cause.symptoms()).anyMatch(line -> line.startsWith("the garbage collector stops calls"));
        assertThat(cause.saves()).isEqualTo(1);
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("COLLECTOR");
    }

    @Test
    void largeRequestsOfOneMethodAreTheCauseOfPausesInAllMethods() {
        shop.machine = machine(0.3, 0.1, 0);
        shop.healthy(USUAL);
        shop.machine = machine(0.8, 0.1, 0.2);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 150e6);
            return stood;
        };
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, steps -> USUAL.accept(steps.own(150)));
                }
                for (int call = 0; call < 3; call++) {
                    shop.call("BookingService.book", 0, steps -> {
                        Phase outer = steps.ledger.turnTo(Phase.DECODE);
                        shop.pass(250);
                        steps.ledger.turnTo(outer);
                    });
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("LARGE REQUESTS");
        assertThat(first(shop.diagnosis()).change().text()).contains("smaller requests of BookingService.book");
    }

    /**
     * Simulates calls that take 250 ms to read their requests, while the collector takes the given share of the time.
     * Returns the first cause.
     */
    private Cause firstWithSlowDecoding(double collecting) {
        shop.machine = machine(0.3, 0.1, 0);
        shop.healthy(USUAL);
        shop.machine = machine(0.8, 0.1, collecting);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (String method : List.of(Shop.PLACE, "BookingService.book", "BookingService.cancel")) {
                    for (int call = 0; call < 10; call++) {
                        shop.call(method, 0, steps -> {
                            Phase outer = steps.ledger.turnTo(Phase.DECODE);
                            shop.pass(250);
                            steps.ledger.turnTo(outer);
                        });
                    }
                }
            });
        }
        return first(shop.diagnosis());
    }

    @Test
    void requestsOfAllMethodsAreNotLargeWhileTheCollectorWorks() {
        assertThat(firstWithSlowDecoding(0.4).kind()).startsWith("COLLECTOR");
    }

    @Test
    void requestsOfAllMethodsMayBeLargeIfTheCollectorIsIdle() {
        assertThat(firstWithSlowDecoding(0).kind()).isEqualTo("LARGE REQUESTS");
    }

    @Test
    void operationsThatTheCollectorDelaysAreNoSecondCause() {
        shop.machine = machine(0.3, 0.1, 0);
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET carrier:80/rates", 5));
        shop.machine = machine(0.3, 0.1, 0.5, "System.gc()");
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 200e6);
            return stood;
        };

        Diagnosis miss = shop.miss(call -> call.own(220).in(Phase.HTTP, "GET carrier:80/rates", 40));

        assertThat(first(miss).kind()).as(miss.text()).startsWith("COLLECTOR");
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("SLOW HTTP PEER");
    }

    @Test
    void busyProcessorsSaveTheCallsWhoseOperationsTheySlowDown() {
        shop.machine = machine(0.3, 0.1, 0);
        shop.healthy(USUAL);
        shop.machine = machine(0.2, 1.8, 0);

        Diagnosis miss =
                shop.miss(call -> call.own(30).in(Phase.SQL, "select stock", 60).in(Phase.HTTP, "GET carrier:80", 70));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("PROCESSORS");
        assertThat(first(miss).saves()).isEqualTo(1);
    }

    @Test
    void waitForAThreadOfAnExecutorIsNotCalledAConnection() {
        shop.healthy(USUAL);
        long[] tasks = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("concierge", PoolKind.EXECUTOR, 3)
                .now(3, 0, 9)
                .counts(tasks[0] += 30, 0)
                .sums(Duration.ZERO, Duration.ofMillis(tasks[0] * 90))
                .settings(List.of())
                .build());

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.EXECUTOR, "concierge", 300));

        assertThat(first(miss).name()).as(miss.text()).isEqualTo("concierge");
        assertThat(miss.text()).doesNotContain("connection of \"concierge\"");
    }

    @Test
    void waitsOfNoConsequenceAreNotListed() {
        shop.healthy(USUAL);

        Diagnosis miss =
                shop.miss(call -> call.own(2).in(Phase.EXECUTOR, "mail", 0.1).in(Phase.HTTP, "GET carrier:80", 180));

        assertThat(miss.text()).doesNotContain("brings");
    }

    /**
     * Simulates a second with 100 calls that meet the target, and with calls to {@code ReportService.month}, which
     * always take 250 ms.
     */
    private void secondWithReports(int reports, Consumer<Shop.Steps> calls) {
        shop.second(() -> {
            for (int i = 0; i < 100; i++) {
                shop.call(Shop.PLACE, 0, calls);
            }
            for (int i = 0; i < reports; i++) {
                shop.call("ReportService.month", 0, call -> call.own(5).in(Phase.SQL, "select month", 245));
            }
        });
    }

    @Test
    void missEndsAlthoughAnotherMethodIsAlwaysSlow() {
        for (int i = 0; i < 120; i++) {
            secondWithReports(i % 2, USUAL);
        }
        for (int i = 0; i < 6; i++) {
            secondWithReports(1, call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 190));
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        for (int i = 0; i < 45; i++) {
            secondWithReports(1, USUAL);
            assertThat(shop.diagnosis().text()).doesNotContain("of 0 ms");
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void missThatBeganAtTheStartEndsAlthoughAnotherMethodWasNeverQuick() {
        for (int i = 0; i < 80; i++) {
            secondWithReports(2, call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 190));
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        for (int i = 0; i < 120; i++) {
            secondWithReports(2, USUAL);
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void frequentCallsThatWereNeverQuickStayAMiss() {
        for (int i = 0; i < 240; i++) {
            secondWithReports(2, call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 190));
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.MISS);
    }

    @Test
    void moreReportsThatAreAlwaysSlowDoNotBeginAMiss() {
        for (int i = 0; i < 120; i++) {
            secondWithReports(i % 2, USUAL);
        }
        for (int i = 0; i < 30; i++) {
            secondWithReports(4, USUAL);
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }
}
