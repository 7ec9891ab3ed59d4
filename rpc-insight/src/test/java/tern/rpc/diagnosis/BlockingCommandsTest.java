package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests blocking Redis commands that are run by threads that serve no call. */
class BlockingCommandsTest {

    private final Shop shop = new Shop();

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private static Consumer<Shop.Steps> commands(double millis) {
        return call -> call.in(Phase.REDIS, "GET user:*", millis).in(Phase.REDIS, "SET cart:*", millis + 1);
    }

    private Diagnosis slowCommands() {
        return shop.healthy(commands(1)).miss(commands(60));
    }

    @Test
    void commandThatStillRunsIsTheCauseOfSlowCommandsOnTheSharedConnection() {
        OutsideOperations.begins(Phase.REDIS, "BLPOP jobs");

        Cause cause = first(slowCommands());

        assertThat(DiagnosisText.title(cause)).isEqualTo("BLOCKING REDIS COMMAND: BLPOP jobs");
        assertThat(cause.change().text())
                .startsWith("use a separate connection for the blocking command BLPOP jobs, which thread "
                        + Thread.currentThread().getName() + " runs in");
    }

    @Test
    void commandThatRanAMomentAgoIsTheCause() {
        OutsideOperations.begins(Phase.REDIS, "XREADGROUP events");
        OutsideOperations.ran(Phase.REDIS, "XREADGROUP events");

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("BLOCKING REDIS COMMAND: XREADGROUP events");
    }

    /**
     * Makes a script and the other commands of the calls slower. Returns the first cause that the diagnosis reports.
     */
    private Cause firstWithSlowerScript(double scriptMillis, double otherMillis) {
        Consumer<Shop.Steps> usual =
                call -> call.in(Phase.REDIS, "GET user:*", 1).in(Phase.REDIS, "EVALSHA score:*", 2);
        return first(shop.healthy(usual)
                .miss(call -> call.in(Phase.REDIS, "GET user:*", otherMillis)
                        .in(Phase.REDIS, "EVALSHA score:*", scriptMillis)));
    }

    @Test
    void usuallyQuickScriptForWhichOtherCommandsWaitIsTheCause() {
        Cause cause = firstWithSlowerScript(150, 90);

        assertThat(DiagnosisText.title(cause)).isEqualTo("SLOW REDIS COMMAND: EVALSHA score:*");
        assertThat(cause.change().text()).startsWith("use a script with less work");
        assertThat(cause.symptoms()).anyMatch(line -> line.contains("calls wait for GET user:*"));
    }

    @Test
    void scriptThatIsAsMuchSlowerAsOtherCommandsIsNotTheCause() {
        assertThat(DiagnosisText.title(firstWithSlowerScript(92, 90))).isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void commandsThatDoNotBlockAreNoCause() {
        OutsideOperations.begins(Phase.REDIS, "GET jobs");

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void blockingCommandOnAConnectionOfAPoolIsNoCause() {
        OutsideOperations.begins(Phase.REDIS, "BLPOP jobs");
        shop.pools.add(() -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 8)
                .now(2, 6, 0)
                .settings(List.of())
                .build());

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("SLOW REDIS: every command");
    }

    /**
     * Simulates a thread that serves no call and has run a command for the given time. Returns the cause that the
     * diagnosis names first.
     */
    private Cause firstWhileAJobRuns(String command, double commandMillis, double waitMillis) {
        shop.healthy(commands(1));
        OutsideOperations.ran(Phase.REDIS, command, (long) (commandMillis * 1e6));
        return first(shop.miss(commands(waitMillis)));
    }

    @ParameterizedTest
    @CsvSource({
        "KEYS resv:*, use SCAN instead of KEYS",
        "LRANGE plan [over 4 MB], 'use a shorter list, or a shorter range, for LRANGE'",
        "EVAL script, use a script with less work"
    })
    void commandOfAJobThatBlocksTheServerIsTheCause(String command, String change) {
        Cause cause = firstWhileAJobRuns(command, 400, 150);

        assertThat(DiagnosisText.title(cause)).isEqualTo("SLOW REDIS COMMAND: " + command);
        assertThat(cause.change().text())
                .startsWith(change)
                .contains(command + ", which thread " + Thread.currentThread().getName() + " runs outside of calls");
        assertThat(cause.evidence()).contains("outside  " + command + " takes 400 ms");
        assertThat(cause.symptoms()).anyMatch(line -> line.contains("calls wait for SET cart:*"));
    }

    /**
     * The late calls are the calls whose commands waited longest, so these commands take nearly as long as the blocking
     * command.
     */
    @Test
    void commandOfAJobThatMakesOnlyAPartOfTheCallsLateIsTheCause() {
        shop.healthy(commands(1));
        OutsideOperations.ran(Phase.REDIS, "KEYS resv:*", 320_000_000L);

        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, commands(call % 4 == 0 ? 280 : 2));
                }
            });
        }

        assertThat(DiagnosisText.title(first(shop.diagnosis()))).isEqualTo("SLOW REDIS COMMAND: KEYS resv:*");
    }

    /** Only the first command of a call waits for the server. The other commands take their usual time. */
    private static Consumer<Shop.Steps> lock(double setMillis) {
        return call -> call.own(2)
                .in(Phase.REDIS, "SET lock:*", setMillis)
                .in(Phase.REDIS, "GET lock:*", Math.max(1, setMillis / 30))
                .in(Phase.REDIS, "DEL lock:*", 1);
    }

    @Test
    void firstCommandOfCallsThatWaitForACommandOfAJobIsNotTheCause() {
        shop.healthy(lock(1));
        OutsideOperations.ran(Phase.REDIS, "KEYS resv:*", 250_000_000L);

        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, lock(call % 4 == 0 ? 150 : 1));
                }
            });
        }

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: KEYS resv:*");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for SET lock:*"));
    }

    @Test
    void commandsThatAreQuickBetweenSlowOnesPointToAnotherClient() {
        shop.healthy(commands(1));
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, commands(call % 4 == 0 ? 180 : 1));
                }
            });
        }

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS: every command");
        assertThat(first.change().text()).startsWith("find the command or script that blocks the Redis server");
    }

    @Test
    void commandsThatAreAllSlowPointToTheServerOrTheNetwork() {
        Cause first = first(shop.healthy(commands(1)).miss(commands(150)));

        assertThat(first.change().text()).startsWith("check the network to the Redis server, or");
    }

    @Test
    void commandOfAJobThatBecameSlowerByTheSameTimeAsAllOthersIsNotTheCause() {
        assertThat(DiagnosisText.title(firstWhileAJobRuns("KEYS resv:*", 152, 150)))
                .isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void commandOfAJobThatAlwaysTakesLongIsNotTheCause() {
        for (int second = 0; second < 20; second++) {
            OutsideOperations.ran(Phase.REDIS, "KEYS resv:*", 400_000_000L);
            shop.second(100, commands(1));
        }

        assertThat(DiagnosisText.title(firstWhileAJobRuns("KEYS resv:*", 400, 150)))
                .isEqualTo("SLOW REDIS: every command");
    }

    /** Simulates orders that set a lock, read two values and delete the lock. Each command takes the given time. */
    private static Consumer<Shop.Steps> order(double... millis) {
        return call -> call.in(Phase.REDIS, "SET lock:north:*", millis[0])
                .in(Phase.REDIS, "GET reserved:north:*", millis[1])
                .in(Phase.REDIS, "GET reserved:south:*", millis[2])
                .in(Phase.REDIS, "DEL lock:north:*", millis[3]);
    }

    /**
     * Simulates calls. Every fourth call (every call if {@code onlyLate} is true) runs the steps of one of the given
     * calls, in turn. All other calls are quick.
     */
    private Diagnosis diagnosisOfEveryFourth(List<Consumer<Shop.Steps>> late, boolean onlyLate) {
        shop.healthy(order(1, 2, 1, 1));
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    boolean isLate = onlyLate || call % 4 == 0;
                    shop.call(Shop.PLACE, 0, isLate ? late.get(call / 4 % late.size()) : order(1, 2, 1, 1));
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void pausesOfTheServerThatDelayOneCommandOfACallAreOneCause() {
        Diagnosis miss =
                diagnosisOfEveryFourth(List.of(order(180, 2, 1, 1), order(1, 230, 1, 1), order(1, 2, 160, 1)), false);

        assertThat(miss.causes()).extracting(DiagnosisText::title).containsExactly("SLOW REDIS: every command");
        assertThat(miss.causes().get(0).change().text())
                .startsWith("find the command or script that blocks the Redis server");
        assertThat(miss.causes().get(0).saves()).isGreaterThan(0.9);
    }

    @Test
    void commandsThatAreSlowForDifferentReasonsAreDifferentCauses() {
        Diagnosis miss =
                diagnosisOfEveryFourth(List.of(order(120, 2, 1, 1), order(1, 600, 1, 1), order(1, 2, 300, 1)), false);

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .doesNotContain("SLOW REDIS: every command");
    }

    @Test
    void commandsThatAreSlowInAllCallsAreNotDelayedByPauses() {
        Diagnosis miss = diagnosisOfEveryFourth(List.of(order(180, 190, 200, 1)), true);

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .doesNotContain("SLOW REDIS: every command");
    }

    /**
     * Simulates calls to two methods on busy processors. Calendar calls run the given command. A third of the quotes
     * waits while the server runs this command.
     */
    private Cause firstOfCalendar(String command, double commandMillis, double waitMillis) {
        for (int second = 0; second < 96; second++) {
            boolean isNew = second >= 90;
            shop.second(() -> {
                for (int i = 0; i < 60; i++) {
                    double waits = isNew && i % 3 == 0 ? waitMillis : 1;
                    shop.call("Rates.quote", 0, call -> call.own(1).in(Phase.REDIS, "HGET rate:*", waits));
                }
                for (int i = 0; i < 12; i++) {
                    shop.call(
                            "Rates.calendar",
                            0,
                            call -> call.own(1)
                                    .in(Phase.REDIS, isNew ? command : "HMGET calendar", isNew ? commandMillis : 2));
                }
            });
            shop.machine = new Machine(2, 0.2, 1.8, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of())
                    .delayed(new Machine.Delay(isNew ? 1.4e6 : 1e5, 1e5, 2, 0.1, true));
        }
        return first(shop.diagnosis());
    }

    @ParameterizedTest
    @CsvSource({"HGETALL calendar, 220, 140", "HGETALL calendar [over 10000 elements], 160, 150"})
    void newCommandForWhichTheOtherCommandsWaitIsTheCauseOnBusyProcessors(
            String command, double commandMillis, double waitMillis) {
        Cause first = firstOfCalendar(command, commandMillis, waitMillis);

        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .startsWith("SLOW REDIS COMMAND: HGETALL calendar");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for HGET rate:*"));
    }
}
