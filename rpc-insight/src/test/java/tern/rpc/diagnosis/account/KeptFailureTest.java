package tern.rpc.diagnosis.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.KeptFailure.Forgotten;

/** Tests that recorded calls do not keep large failures in memory. */
class KeptFailureTest {

    private static final String LONG = "m".repeat(KeptFailure.MAX_CHARACTERS + 1);

    private static EndedCall call(Throwable failure) {
        return new EndedCall("Orders/place", CallLedger.none(), 7, 5, failure, false, "10.0.0.1");
    }

    private static Throwable restored(Throwable failure) {
        return Objects.requireNonNull(call(failure).failure());
    }

    @Test
    void ordinaryFailureIsKept() {
        Exception failure = new IOException("m".repeat(1_000), new IOException("cause"));

        assertThat(restored(failure)).isSameAs(failure);
    }

    @Test
    void failureWithALongMessageIsReplaced() {
        Exception failure = new IOException("short", new IOException(LONG));

        assertThat(restored(failure))
                .isInstanceOf(Forgotten.class)
                .hasMessage("java.io.IOException")
                .hasNoCause();
        assertThat(restored(failure).getStackTrace()).isEqualTo(failure.getStackTrace());
    }

    @Test
    void failureWithALongSuppressedExceptionIsReplaced() {
        Exception failure = new IOException("short");
        failure.addSuppressed(new IOException(LONG));

        assertThat(restored(failure)).isInstanceOf(Forgotten.class);
    }

    @Test
    void failureWithManyCausesIsReplaced() {
        Exception failure = new IOException();
        for (int i = 0; i < 100; i++) {
            failure = new IOException(failure);
        }

        assertThat(restored(failure)).isInstanceOf(Forgotten.class);
    }

    @Test
    void callStaysFailedAfterItsFailureIsForgotten() {
        EndedCall call = call(new IOException("disk full"));

        Objects.requireNonNull(call.kept()).clear();

        assertThat(call.failure()).isInstanceOf(Forgotten.class).hasMessage("java.io.IOException");
    }
}
