package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

class ExecutorNamesTest {

    private static void learn(String pool, String thread) {
        ExecutorNames.learn(
                PoolSnapshot.builder(pool, PoolKind.EXECUTOR, 2).thread(thread).build());
    }

    @Test
    void threadsThatTheApplicationDoesNotNameBelongToTheirExecutor() {
        learn("Labels.loaders", "pool-71-thread-1");

        assertThat(ExecutorNames.poolOf("pool-71-thread")).isEqualTo("Labels.loaders");
        assertThat(ExecutorNames.threadsOf("Labels.loaders")).isEqualTo("pool-71-thread");
    }

    @Test
    void threadsOfSeveralExecutorsBelongToTheFirstOne() {
        learn("Labels.first", "labels-1");
        learn("Labels.second", "labels-2");

        assertThat(ExecutorNames.poolOf("labels")).isEqualTo("Labels.first");
        assertThat(ExecutorNames.threadsOf("Labels.second")).isEqualTo("Labels.second");
    }

    @Test
    void otherExecutorsHaveTheNamesOfTheirThreads() {
        learn("mails", null);

        assertThat(ExecutorNames.poolOf("mails")).isEqualTo("mails");
        assertThat(ExecutorNames.threadsOf("mails")).isEqualTo("mails");
    }

    @Test
    void threadsOfTheCommonPoolBelongToNoOtherExecutor() {
        learn("Labels.forked", "ForkJoinPool.commonPool-worker-1");

        assertThat(ExecutorNames.poolOf(ExecutorNames.COMMON_THREADS)).isEqualTo(ExecutorNames.COMMON_POOL);
        assertThat(ExecutorNames.threadsOf("Labels.forked")).isEqualTo("Labels.forked");
    }
}
