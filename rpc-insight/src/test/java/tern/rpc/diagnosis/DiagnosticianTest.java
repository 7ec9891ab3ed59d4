package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;

class DiagnosticianTest {

    private final Shop shop = new Shop();

    @Test
    void callsInTimeAreHealthy() {
        shop.healthy(USUAL);

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnosis().causes()).isEmpty();
    }

    @Test
    void firstMinuteOfCallsIsNotJudged() {
        for (int i = 0; i < 60; i++) {
            shop.second(100, call -> call.own(500));
        }

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.QUIET);
    }

    @Test
    void oneLateCallInAHundredIsNoMiss() {
        shop.healthy(USUAL);
        for (int i = 0; i < 60; i++) {
            shop.second(() -> {
                for (int call = 0; call < 99; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                shop.call(Shop.PLACE, 0, call -> call.own(300));
            });
        }

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void slowStatementIsTheFirstCause() {
        Diagnosis miss = shop.healthy(USUAL)
                .miss(call ->
                        call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.SQL, "update orders set total=?", 250));

        assertThat(first(miss).kind()).isEqualTo("SLOW STATEMENT");
        assertThat(first(miss).name()).isEqualTo("update orders set total=?");
        assertThat(first(miss).ms()).isBetween(200.0, 260.0);
        assertThat(first(miss).change().where()).isEqualTo(Cause.Where.STATEMENT);
    }

    @Test
    void waitForAWorkerIsAttributedToTheWorkOfTheWorkers() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 400, c -> c.own(2).in(Phase.HTTP, "GET stock:8080", 120));
                }
            });
        }

        Cause cause = first(shop.diagnosis());
        assertThat(cause.kind()).isEqualTo("SLOW HTTP PEER");
        assertThat(cause.name()).isEqualTo("GET stock:8080");
        assertThat(cause.symptoms()).anyMatch(symptom -> symptom.contains("wait for a worker"));
    }

    @Test
    void manyShortStatementsAreCounted() {
        Diagnosis miss = shop.healthy(USUAL).miss(call -> {
            for (int i = 0; i < 100; i++) {
                call.in(Phase.SQL, "select * from item where id=?", 2);
            }
        });

        assertThat(first(miss).kind()).isEqualTo("MANY STATEMENTS");
        assertThat(first(miss).change().text()).contains("one statement instead of 100 per call");
    }

    @Test
    void orderOfCallsDoesNotMatter() {
        List<Consumer<Shop.Steps>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) { // The number of calls is small enough that all of them are recorded.
            int millis = i;
            calls.add(call -> call.own(2)
                    .in(Phase.SQL, "select " + millis % 3, 120 + millis)
                    .in(Phase.REDIS, "GET", 40));
        }
        List<String> texts = new ArrayList<>();
        for (int turn = 0; turn < 3; turn++) {
            Shop one = new Shop();
            one.healthy(USUAL);
            Collections.shuffle(calls, new Random(turn));
            for (int i = 0; i < 6; i++) {
                one.second(() -> calls.forEach(call -> one.call(Shop.PLACE, 0, call)));
            }
            texts.add(one.diagnosis().text().lines().skip(1).toList().toString());
        }

        assertThat(texts.get(1)).isEqualTo(texts.get(0));
        assertThat(texts.get(2)).isEqualTo(texts.get(0));
    }

    @Test
    void missThatContinuesIsOneEpisode() {
        shop.healthy(USUAL);
        for (int i = 0; i < 60; i++) {
            shop.second(100, call -> call.own(2).in(Phase.SQL, "select stock", 250));
        }

        assertThat(shop.diagnostician.history().episodes())
                .extracting(History.Episode::first)
                .containsExactly("SLOW STATEMENT: select stock");
        assertThat(shop.diagnostician.history().seconds()).hasSizeLessThanOrEqualTo(600);
    }

    @Test
    void failuresNameTheirCode() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, Orders.closed(), USUAL);
                }
            });
        }

        Cause cause = first(shop.diagnosis());
        assertThat(cause.kind()).isEqualTo("FAILURE");
        assertThat(cause.name())
                .startsWith("IllegalStateException in Orders.closed")
                .doesNotContain("17");
    }

    @Test
    void callsBeyondTheUsualThatAreRefusedAreMoreCalls() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("queue", 200L, Long::sum);
            shop.second(100, USUAL);
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("MORE CALLS");
        assertThat(shop.diagnosis().miss().refused()).isGreaterThan(400);
    }

    @Test
    void muchLargerBurstIsTheCauseEvenIfOneOperationTakesMostOfTheTime() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("queue", 1_000L, Long::sum);
            shop.second(900, call -> call.own(2).in(Phase.SQL, "select stock", 240));
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("MORE CALLS");
    }

    @Test
    void causeIsNamedAfterTheSlowOperationWhileCallsStillRunIt() {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 5));
        Shop.Steps steps = shop.new Steps(0);
        long started = shop.now();
        steps.ledger.enter(Phase.HTTP);
        for (int i = 0; i < 6; i++) {
            shop.pass(300);
            shop.running.clear();
            for (int running = 0; running < 20; running++) {
                shop.running.add(new RunningCall(
                        Shop.PLACE,
                        Thread.currentThread().getId(),
                        Phase.HTTP,
                        started,
                        shop.now() - started,
                        steps.ledger));
            }
            shop.second(100, call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 300));
        }

        assertThat(shop.diagnosis().causes()).extracting(Cause::name).containsExactly("GET carrier:80");
    }

    @Test
    void writingStatementThatAloneBecameManyTimesSlowerWaitsForALock() {
        shop.healthy(call -> call.in(Phase.SQL, "select stock", 3).in(Phase.SQL, "update stock", 1));

        Diagnosis diagnosis =
                shop.miss(call -> call.in(Phase.SQL, "select stock", 3).in(Phase.SQL, "update stock", 400));

        assertThat(first(diagnosis).kind()).isEqualTo("ROW LOCK");
        assertThat(first(diagnosis).change().text())
                .contains("session of another process")
                .contains("update stock");
    }

    @Test
    void writingStatementThatBecameThousandsOfTimesSlowerWaitsForALockAlthoughAReportIsSlowerToo() {
        shop.healthy(call -> call.in(Phase.SQL, "select count", 60).in(Phase.SQL, "update stock", 1));

        Diagnosis diagnosis =
                shop.miss(call -> call.in(Phase.SQL, "select count", 400).in(Phase.SQL, "update stock", 3000));

        assertThat(first(diagnosis).kind()).isEqualTo("ROW LOCK");
    }

    @Test
    void writingStatementIsNotSaidToWaitForALockIfReadingStatementsAreSlowerToo() {
        shop.healthy(call -> call.in(Phase.SQL, "select stock", 3).in(Phase.SQL, "update stock", 1));

        Diagnosis diagnosis =
                shop.miss(call -> call.in(Phase.SQL, "select stock", 90).in(Phase.SQL, "update stock", 400));

        assertThat(diagnosis.causes()).extracting(Cause::kind).doesNotContain("ROW LOCK");
    }

    @Test
    void commandThatStopsRedisHasTheTimeOfTheOtherCommands() {
        shop.healthy(USUAL);

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.REDIS_CONNECTION, "jedis", 40)
                .in(Phase.REDIS, "GET user:*", 85)
                .in(Phase.REDIS, "KEYS session:*", 80));

        assertThat(first(miss).kind()).isEqualTo("SLOW REDIS COMMAND");
        assertThat(first(miss).name()).isEqualTo("KEYS session:*");
        assertThat(first(miss).change().text()).contains("SCAN");
        assertThat(miss.text()).contains("calls wait for GET user:*");
    }

    @Test
    void endOfTrafficIsNoMiss() {
        shop.healthy(USUAL);
        for (int i = 0; i < 3; i++) {
            shop.second(() -> {
                for (int call = 0; call < 50; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < 2; call++) {
                    shop.call(Shop.PLACE, 0, late -> late.own(300));
                }
            });
        }
        for (int i = 0; i < 70; i++) {
            shop.second(0, USUAL);

            assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        }
    }

    @Test
    void manyTimesTheUsualCallsAreTheCauseIfEverythingIsSlower() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(
                    900,
                    call -> call.own(2)
                            .in(Phase.SQL, "select stock", 40)
                            .in(Phase.REDIS, "GET user:*", 35)
                            .in(Phase.HTTP, "GET carrier:80", 45));
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("MORE CALLS");
        assertThat(first(shop.diagnosis()).change().text()).contains("times the usual calls");
    }

    @Test
    void fullProcessorsAreTheCauseIfOperationsOfSeveralKindsAreSlower() {
        shop.healthy(call -> USUAL.accept(call.in(Phase.HTTP, "GET carrier:80", 5)));
        shop.machine = new Machine(2, 1.9, 0.1, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.SQL, "select stock", 50)
                .in(Phase.REDIS, "GET user:*", 45)
                .in(Phase.HTTP, "GET carrier:80", 60));

        assertThat(first(miss).kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void processorsFullOfOthersAreTheCauseIfSeveralCommandsAreSlower() {
        shop.healthy(call -> call.own(2)
                .in(Phase.REDIS, "GET card:*", 2)
                .in(Phase.REDIS, "SETEX card:*", 1)
                .in(Phase.REDIS, "INCR views:*", 1)
                .in(Phase.REDIS, "DEL slot:*", 1)
                .in(Phase.SQL, "select patient", 3));
        shop.machine = new Machine(2, 0.3, 1.7, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.REDIS, "GET card:*", 68)
                .in(Phase.REDIS, "SETEX card:*", 54)
                .in(Phase.REDIS, "INCR views:*", 31)
                .in(Phase.REDIS, "DEL slot:*", 1)
                .in(Phase.SQL, "select patient", 12));

        assertThat(first(miss).kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void oneSlowCommandStaysTheCauseWhileOthersUseTheProcessors() {
        shop.healthy(call -> call.own(2).in(Phase.REDIS, "GET card:*", 2).in(Phase.REDIS, "INCR views:*", 1));
        shop.machine = new Machine(2, 0.3, 1.7, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());

        Diagnosis miss =
                shop.miss(call -> call.own(2).in(Phase.REDIS, "GET card:*", 130).in(Phase.REDIS, "INCR views:*", 20));

        assertThat(first(miss).kind()).isEqualTo("SLOW REDIS COMMAND");
    }

    @Test
    void answerSaysThatTheProcessWasTooBusyToLookAgain() {
        Diagnosis fresh = shop.healthy(USUAL).miss(call -> call.in(Phase.HTTP, "GET carrier:80", 180));
        shop.pass(26_000);

        assertThat(fresh.text()).doesNotContain("too busy to look again");
        assertThat(shop.diagnosis().text()).endsWith("too busy to look again for 26 s\n");
        assertThat(shop.diagnosis().causes()).isEqualTo(fresh.causes());
    }

    @Test
    void processThatCannotCheckItsCallsIsNotCalledHealthy() {
        shop.healthy(USUAL);
        assertThat(shop.diagnosis().text()).startsWith("HEALTHY: ");

        shop.pass(24_000);

        assertThat(shop.diagnosis().text())
                .startsWith(
                        "UNKNOWN: this process gets too little processor time to check its calls; 24 s ago, HEALTHY: ");
    }

    @Test
    void quotaThatStopsTheProcessIsNamedWhileItCannotCheckItsCalls() {
        shop.healthy(USUAL);
        shop.stoppingQuota = ": raise the CPU quota";

        shop.pass(24_000);

        assertThat(shop.diagnosis().text())
                .startsWith("UNKNOWN: ")
                .endsWith("too busy to look again for 24 s: raise the CPU quota\n");
    }

    @Test
    void slowStatementsWithoutANameAreDescribedTogether() {
        Diagnosis miss = shop.healthy(USUAL).miss(call -> call.in(Phase.SQL, null, 180));

        assertThat(first(miss).change().text())
                .startsWith("check the statements of these calls: their plans")
                .doesNotContain("this statement");
    }

    @Test
    void ageOfOldCausesIsInTheFirstLine() {
        Diagnosis fresh = shop.healthy(USUAL).miss(call -> call.in(Phase.HTTP, "GET carrier:80", 180));
        shop.pass(31_000);

        assertThat(fresh.text()).doesNotContain(" ago: ");
        assertThat(shop.diagnosis().text().lines().findFirst())
                .hasValueSatisfying(line -> assertThat(line)
                        .matches("MISS since \\S+ \\(\\d+ s\\), seen 31 s ago: OrderService.place, target 100 ms"));
    }

    @Test
    void causeStaysUntilTheMissEndsAlthoughItIsOver() {
        shop.healthy(USUAL).miss(call -> call.in(Phase.HTTP, "GET carrier:80", 180));

        for (int i = 0; i < 30; i++) {
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                shop.call(Shop.PLACE, 0, call -> call.own(300));
            });
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("SLOW HTTP PEER");
    }

    /** Simulates a peer that is slow and recovers, and a statement that is slow in a few calls afterwards. */
    private Cause firstAfterRecovery(int seconds) {
        shop.healthy(USUAL).miss(call -> call.in(Phase.HTTP, "GET carrier:80", 180));
        for (int i = 0; i < seconds; i++) {
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < 10; call++) {
                    shop.call(Shop.PLACE, 0, late -> late.own(2).in(Phase.SQL, "select stock", 300));
                }
            });
        }
        return first(shop.diagnosis());
    }

    @Test
    void firstCauseStaysWhileTheMissDeclines() {
        assertThat(firstAfterRecovery(14).kind()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void causeOfTheRemainingLateCallsIsNamedIfTheyDoNotEnd() {
        assertThat(firstAfterRecovery(28).kind()).isEqualTo("SLOW STATEMENT");
    }

    @Test
    void methodsAreNotNewBecauseTheApplicationIs() {
        for (int i = 0; i < 70; i++) {
            shop.second(100, USUAL);
        }
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("queue", 200L, Long::sum);
            shop.second(100, USUAL);
        }

        assertThat(first(shop.diagnosis()).changed()).isNotEmpty().noneMatch(line -> line.contains("first called"));
    }

    @Test
    void webRequestsThatTheApplicationRefusesDoNotNeedMoreWorkers() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("status 503", 200L, Long::sum);
            shop.second(100, USUAL);
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("LIMIT");
        assertThat(first(shop.diagnosis()).change().text()).contains("answers with status 503");
    }

    @Test
    void accountAddsUpToTheTimeOfACall() {
        Diagnosis miss = shop.healthy(USUAL).miss(call -> call.own(40).in(Phase.SQL, "select 1", 80));

        assertThat(miss.accountMs().values().stream()
                        .mapToDouble(Double::doubleValue)
                        .sum())
                .isBetween(119.9, 120.1);
    }

    @Test
    void missEndsAfterHalfAMinuteInTime() {
        shop.healthy(USUAL).miss(call -> call.own(300));
        for (int i = 0; i < 45; i++) {
            shop.second(100, USUAL);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void callsAreSampledAfterASecondInWhichSeveralCallsWereLate() {
        shop.healthy(USUAL);
        assertThat(shop.diagnostician.pauseNanos()).isZero();
        int[] number = {0};

        shop.second(100, call -> call.own(number[0]++ % 20 == 0 ? 150 : 2));

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnostician.pauseNanos()).isPositive();
        shop.second(100, USUAL);
        assertThat(shop.diagnostician.pauseNanos()).isZero();
    }
}
