package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests executors whose threads mostly run tasks that no call has submitted, and a few tasks of calls. */
class OtherTasksTest {

    private static final String QUOTE = "Rates.quote at rates-1:9303";

    /** Returns an executor with 16 threads. Three of four tasks belong to no call. */
    private static PoolSnapshot finders() {
        return PoolSnapshot.builder("finders", PoolKind.EXECUTOR, 16)
                .now(16, 0, 44)
                .counts(100, 0)
                .sums(Duration.ofSeconds(80), Duration.ofSeconds(160))
                .others(new PoolSnapshot.OtherTasks(75, Duration.ofSeconds(140), 14, "Alerts.send:25 (thread jobs-1)"))
                .settings(List.of())
                .build();
    }

    /**
     * Returns whether tasks that no call has submitted occupy the executor while the remote calls of the waiting calls
     * are slower than usual.
     *
     * @param exchanges the number of samples that show tasks in an HTTP exchange
     * @param remote the number of samples that show tasks in a remote call
     */
    private static boolean areOccupied(int exchanges, int remote) {
        Evidence evidence = new SampledCalls()
                .pool(finders())
                .usually("Search.all", Phase.RPC, QUOTE, 3)
                .borrowing("Search.all", "finders", 800, Phase.RPC, QUOTE, 7, samples -> {})
                .evidence();
        ExcessTime excess = new ExcessTime(evidence);
        Operations operations = new Operations(excess, evidence.usual(), evidence.answers());
        PoolVerdict executor =
                PoolVerdict.of(evidence.pools().get(0), evidence.seconds(), 0, List.of(), false, true, 0);
        Times tasks = new Times();
        tasks.add(new Part(Kind.HTTP, "called in Alerts.mail"), exchanges);
        tasks.add(new Part(Kind.RPC, "called in Search.hit"), remote);
        return new OtherTasks(evidence, excess, operations).occupy(executor, tasks);
    }

    @Test
    void slowerOperationOfTheFewTasksOfCallsDoesNotExcuseTheOtherTasks() {
        assertThat(areOccupied(30, 2)).isTrue();
    }

    @Test
    void slowerOperationThatMostTasksRunOccupiesTheExecutor() {
        assertThat(areOccupied(2, 30)).isFalse();
    }
}
