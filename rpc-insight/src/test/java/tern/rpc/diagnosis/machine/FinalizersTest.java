package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FinalizersTest {

    @Test
    void finalizerIsNamedIfManyObjectsWaitForIt() {
        assertThat(Finalizers.pending(20_000, () -> "Handle.finalize:9"))
                .isEqualTo("20000 objects wait for their finalizers, whose thread is in Handle.finalize:9");
        assertThat(Finalizers.pending(20_000, () -> null)).isEqualTo("20000 objects wait for their finalizers");
        assertThat(Finalizers.pending(20, () -> "Handle.finalize:9")).isEmpty();
    }

    @Test
    void ordinaryProcessHasNoWaitingObjects() {
        assertThat(Finalizers.pending()).isEmpty();
    }
}
