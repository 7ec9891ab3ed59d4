package tern.rpc.diagnosis.remedy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

class RemedyCheckTest {

    private static final String PROPERTY = "spring.datasource.druid.max-active";

    private final RemedyCheck check = new RemedyCheck();

    private void lookAt(int second, int size, double p99) {
        PoolSnapshot pool = PoolSnapshot.builder("druid", PoolKind.JDBC, size)
                .settings(List.of(new PoolSetting(
                        PROPERTY, Integer.toString(size), PoolSetting.Source.USER, PoolSetting.Use.MAX)))
                .build();
        check.look(List.of(pool), p99, TimeUnit.SECONDS.toNanos(second));
    }

    @Test
    void changedPropertyIsComparedWithTheExpectedResult() {
        check.advised(new Change(Where.PROPERTY, PROPERTY + "=7", PROPERTY, "4", "7", 80));
        lookAt(1, 4, 600);
        lookAt(2, 7, 500);
        lookAt(30, 7, 300);
        assertThat(check.line()).isEmpty();

        lookAt(62, 7, 84);

        assertThat(check.line().strip()).isEqualTo("check    " + PROPERTY + "=7: expected p99 80 ms, got 84");
    }

    @Test
    void propertyThatWasNotChangedIsNotCompared() {
        check.advised(new Change(Where.PROPERTY, PROPERTY + "=7", PROPERTY, "4", "7", 80));
        for (int second = 1; second < 200; second++) {
            lookAt(second, 4, 600);
        }

        assertThat(check.line()).isEmpty();
    }
}
