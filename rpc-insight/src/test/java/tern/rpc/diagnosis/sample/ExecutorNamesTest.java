package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExecutorNamesTest {

    @Test
    void threadsThatTheApplicationDoesNotNameBelongToTheirExecutor() {
        ExecutorNames.learn("Labels.loaders", "pool-71-thread");

        assertThat(ExecutorNames.poolOf("pool-71-thread")).isEqualTo("Labels.loaders");
        assertThat(ExecutorNames.threadsOf("Labels.loaders")).isEqualTo("pool-71-thread");
    }

    @Test
    void threadsOfSeveralExecutorsBelongToTheFirstOne() {
        ExecutorNames.learn("Labels.first", "labels");
        ExecutorNames.learn("Labels.second", "labels");

        assertThat(ExecutorNames.poolOf("labels")).isEqualTo("Labels.first");
        assertThat(ExecutorNames.threadsOf("Labels.second")).isEqualTo("Labels.second");
    }

    @Test
    void otherExecutorsHaveTheNamesOfTheirThreads() {
        ExecutorNames.learn("mails", "");

        assertThat(ExecutorNames.poolOf("mails")).isEqualTo("mails");
        assertThat(ExecutorNames.threadsOf("mails")).isEqualTo("mails");
    }

    @Test
    void threadsOfTheCommonPoolBelongToNoOtherExecutor() {
        ExecutorNames.learn("Labels.forked", ExecutorNames.COMMON_THREADS);

        assertThat(ExecutorNames.poolOf(ExecutorNames.COMMON_THREADS)).isEqualTo(ExecutorNames.COMMON_POOL);
        assertThat(ExecutorNames.threadsOf("Labels.forked")).isEqualTo("Labels.forked");
    }
}
