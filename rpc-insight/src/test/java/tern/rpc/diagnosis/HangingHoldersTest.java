package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests waits for a lock, a permit or a connection whose holders wait for a database, a Redis server or a peer that
 * answers nobody. None of the operations has ended.
 */
class HangingHoldersTest {

    private static final StackTraceElement LINE = new StackTraceElement("shop.Lots", "of", "Lots.java", 21);
    private static final Part LOCK = new Part(Kind.LOCK, "monitor of Lots held in Lots.of");
    private static final Part PERMIT = new Part(Kind.LOCK, "Semaphore wanted in Lots.of");

    private static Consumer<SampledCall> sample(
            Phase phase, Part part, @Nullable String owner, @Nullable Phase ownerPhase, @Nullable Part ownersPart) {
        return samples -> samples.add(new Sample(
                0, phase, part, List.of(LINE), null, LINE, owner, false, ownerPhase, -1, -1, ownersPart, null));
    }

    private static Consumer<SampledCall> during(Phase phase) {
        Part part = new Part(Account.part(phase, "").kind(), "called in Lots.of");
        return sample(phase, part, null, null, null);
    }

    private static Consumer<SampledCall> waits(@Nullable Phase ownerPhase, Kind ownersWork) {
        return sample(Phase.OWN, LOCK, "worker-1", ownerPhase, new Part(ownersWork, "called in Lots.of"));
    }

    private static String title(SampledCalls calls) {
        List<Cause> causes = calls.causes();
        return DiagnosisText.title(causes.get(0));
    }

    private static SampledCalls usual() {
        return new SampledCalls()
                .usuallyRuns("Lots.find", Phase.SQL, "select a from lots", 1)
                .usuallyRuns("Lots.find", Phase.SQL, "select b from places", 1)
                .usuallyRuns("Lots.find", Phase.REDIS, "GET lot:*", 1)
                .usuallyRuns("Lots.find", Phase.HTTP, "GET bank:80/rates", 1)
                .usuallyRuns("Lots.find", Phase.RPC, "Rates.of at rates-1:80", 1);
    }

    private static SampledCalls hanging(Phase phase, int calls) {
        SampledCalls all = usual().answered(Phase.SQL).answered(Phase.REDIS).pass(8_000);
        return switch (phase) {
            case SQL ->
                all.hanging(calls / 2 + calls % 2, "Lots.find", phase, "select a from lots", 7_500, during(phase))
                        .hanging(calls / 2, "Lots.find", phase, "select b from places", 7_500, during(phase));
            case REDIS -> all.hanging(calls, "Lots.find", phase, "GET lot:*", 7_500, during(phase));
            case HTTP -> all.hanging(calls, "Lots.find", phase, "GET bank:80/rates", 7_500, during(phase));
            default -> all.hanging(calls, "Lots.find", phase, "Rates.of at rates-1:80", 7_500, during(phase));
        };
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, PEER FAILS: database: does not answer",
        "REDIS, PEER FAILS: Redis: does not answer",
        "HTTP, PEER FAILS: GET bank:80/rates: does not answer",
        "RPC, PEER FAILS: Rates.of at rates-1:80: does not answer"
    })
    void lockWhoseOwnerWaitsForASilentPeerIsAConsequence(Phase phase, String title) {
        SampledCalls calls = hanging(phase, 4)
                .hanging(
                        16,
                        "Lots.book",
                        Phase.OWN,
                        null,
                        6_000,
                        waits(phase, Account.part(phase, "").kind()));

        assertThat(title(calls)).isEqualTo(title);
        assertThat(calls.causes().get(0).symptoms())
                .anyMatch(line -> line.startsWith("calls wait for monitor of Lots"));
        assertThat(calls.causes()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, PEER FAILS: database: does not answer",
        "REDIS, PEER FAILS: Redis: does not answer",
        "HTTP, PEER FAILS: GET bank:80/rates: does not answer",
        "RPC, PEER FAILS: Rates.of at rates-1:80: does not answer"
    })
    void lockWhoseOwnerServesNoCallAndWaitsForASilentPeerIsAConsequence(Phase phase, String title) {
        SampledCalls calls = hanging(phase, 4)
                .hanging(
                        16,
                        "Lots.book",
                        Phase.OWN,
                        null,
                        6_000,
                        waits(null, Account.part(phase, "").kind()));

        assertThat(title(calls)).isEqualTo(title);
        assertThat(calls.causes()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, PEER FAILS: database: does not answer",
        "REDIS, PEER FAILS: Redis: does not answer",
        "HTTP, PEER FAILS: GET bank:80/rates: does not answer",
        "RPC, PEER FAILS: Rates.of at rates-1:80: does not answer"
    })
    void permitsOfCallsThatWaitForASilentPeerAreAConsequence(Phase phase, String title) {
        SampledCalls calls = hanging(phase, 4)
                .hanging(16, "Lots.find", Phase.OWN, null, 6_000, sample(Phase.OWN, PERMIT, null, null, null));

        assertThat(title(calls)).isEqualTo(title);
        assertThat(calls.causes()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "JDBC_CONNECTION, SQL, JDBC, PEER FAILS: database of own: does not answer",
        "REDIS_CONNECTION, REDIS, REDIS, PEER FAILS: Redis: does not answer",
        "HTTP_CONNECTION, HTTP, HTTP, PEER FAILS: GET bank:80/rates: does not answer",
    })
    void lockWhoseOwnerWaitsForAConnectionToASilentPeerIsAConsequence(
            Phase connection, Phase phase, PoolKind kind, String title) {
        SampledCalls calls = hanging(phase, 4)
                .pool(
                        PoolSnapshot.builder("own", kind, 4)
                                .now(4, 0, 3)
                                .counts(0, 0)
                                .sums(Duration.ZERO, Duration.ZERO)
                                .settings(List.of())
                                .build(),
                        4)
                .hanging(3, "Lots.find", connection, "own", 6_000, during(connection))
                .hanging(16, "Lots.book", Phase.OWN, null, 6_000, waits(connection, Kind.POOL));

        assertThat(title(calls)).isEqualTo(title);
        assertThat(calls.causes()).hasSize(1);
    }

    /**
     * At first, calls wait for the store itself. Soon all other calls wait for a lock, whose owner is a call that waits
     * for the store.
     */
    @ParameterizedTest
    @CsvSource({
        "SQL, PEER FAILS: database: does not answer",
        "REDIS, PEER FAILS: Redis: does not answer",
    })
    void storeStaysTheCauseWhileOnlyTheOwnerOfALockWaitsForIt(Phase phase, String title) {
        SampledCalls calls = hanging(phase, 4);
        assertThat(title(calls)).isEqualTo(title);

        calls.endedEarlier()
                .pass(2_000)
                .hanging(1, "Lots.find", phase, "select a from lots", 2_000, during(phase))
                .hanging(
                        16,
                        "Lots.book",
                        Phase.OWN,
                        null,
                        1_900,
                        waits(phase, Account.part(phase, "").kind()));

        assertThat(title(calls)).isEqualTo(title);
        assertThat(calls.causes()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, PEER FAILS: database: does not answer",
        "REDIS, PEER FAILS: Redis: does not answer",
    })
    void storeStaysTheCauseWhileOnlyAThreadOutsideOfCallsWaitsForIt(Phase phase, String title) {
        SampledCalls calls = hanging(phase, 4);
        assertThat(title(calls)).isEqualTo(title);

        calls.endedEarlier()
                .pass(2_000)
                .hanging(
                        16,
                        "Lots.book",
                        Phase.OWN,
                        null,
                        1_900,
                        waits(null, Account.part(phase, "").kind()));

        assertThat(title(calls)).isEqualTo(title);
    }

    @ParameterizedTest
    @CsvSource({"SQL", "REDIS"})
    void lockIsNoConsequenceOfAStoreThatAnswersAgain(Phase phase) {
        SampledCalls calls = hanging(phase, 4);
        assertThat(title(calls)).endsWith(": does not answer");

        calls.endedEarlier()
                .pass(2_000)
                .answered(phase)
                .hanging(
                        16,
                        "Lots.book",
                        Phase.OWN,
                        null,
                        1_900,
                        waits(null, Account.part(phase, "").kind()));

        assertThat(title(calls)).isEqualTo("LOCK: " + LOCK.name());
    }

    /** The usual times are unknown, because calls were late all the time. */
    @ParameterizedTest
    @CsvSource({
        "HTTP, GET bank:80/rates, PEER FAILS: GET bank:80/rates: does not answer",
        "RPC, Rates.of at rates-1:80, PEER FAILS: Rates.of at rates-1:80: does not answer"
    })
    void peerThatHasAnsweredNobodyForLongIsSilentAlthoughNoUsualTimesAreKnown(
            Phase phase, String operation, String title) {
        SampledCalls calls = new SampledCalls().hanging(4, "Lots.find", phase, operation, 3_000, during(phase));

        assertThat(title(calls)).isEqualTo(title);
    }

    @ParameterizedTest
    @CsvSource({"HTTP, GET bank:80/rates", "RPC, Rates.of at rates-1:80"})
    void peerThatAnswersSomeCallsIsSlowAlthoughNoUsualTimesAreKnown(Phase phase, String operation) {
        SampledCalls calls = new SampledCalls()
                .hanging(4, "Lots.find", phase, operation, 3_000, during(phase))
                .quick("Lots.find", phase, operation, 20);

        assertThat(title(calls)).doesNotContain("does not answer");
    }

    private static TaskWatch tasksThatExchange() {
        TaskWatch tasks = new TaskWatch();
        StackTraceElement[] sends = {
            new StackTraceElement("sun.nio.ch.NioSocketImpl", "park", null, 7),
            new StackTraceElement("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute", null, 7),
            new StackTraceElement("shop.Sanctions", "check", null, 7),
            new StackTraceElement("java.util.concurrent.ThreadPoolExecutor$Worker", "run", null, 7)
        };
        for (int i = 0; i < 20; i++) {
            tasks.add(
                    new ThreadSnapshot("checks-" + i % 4, 90 + i % 4, Thread.State.WAITING, sends, null, null, -1, -1));
        }
        return tasks;
    }

    @Test
    void executorWhoseTasksWaitForASilentPeerIsAConsequence() {
        SampledCalls calls = new SampledCalls()
                .tasks(tasksThatExchange())
                .pool(PoolSnapshot.builder("checks", PoolKind.EXECUTOR, 4)
                        .now(4, 0, 13)
                        .counts(20, 0)
                        .sums(Duration.ZERO, Duration.ofSeconds(70))
                        .settings(List.of())
                        .build())
                .hanging(4, "Lots.find", Phase.HTTP, "GET bank:80/rates", 3_000, during(Phase.HTTP))
                .hanging(12, "Lots.find", Phase.EXECUTOR, "checks", 3_000, during(Phase.EXECUTOR));

        assertThat(title(calls)).isEqualTo("PEER FAILS: GET bank:80/rates: does not answer");
        assertThat(calls.causes()).hasSize(1);
        assertThat(calls.causes().get(0).symptoms()).anyMatch(line -> line.startsWith("calls wait for a thread of"));
    }
}
