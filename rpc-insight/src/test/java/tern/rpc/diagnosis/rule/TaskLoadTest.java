package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskLoadTest {

    private static TaskLoad load(double perSecond, double usualPerSecond, double millis, double usualMillis) {
        return new TaskLoad(perSecond, usualPerSecond, millis * 1e6, usualMillis * 1e6, false);
    }

    @ParameterizedTest(name = "{0} instead of {1} tasks/s of {2} instead of {3} ms")
    @CsvSource({
        "72, 11, 55, 13, true", // number and duration together fill four threads; the number of tasks has grown more
        "30, 11, 110, 13, false", // number and duration together fill four threads; the duration has grown more
        "400, 100, 25, 10, true", // the number of tasks alone fills four threads
        "60, 30, 150, 10, false", // the duration of a task alone fills four threads
        "12, 11, 13, 13, false", // about as many tasks as usual
    })
    void tasksAreTooManyIfTheirNumberHasGrownByALargerFactorThanTheirDuration(
            double perSecond, double usualPerSecond, double millis, double usualMillis, boolean isTooMany) {
        assertThat(load(perSecond, usualPerSecond, millis, usualMillis).isTooMany())
                .isEqualTo(isTooMany);
    }

    @Test
    void tasksAreNotTooManyIfTheirUsualNumberIsUnknown() {
        assertThat(load(400, -1, 55, 13).isTooMany()).isFalse();
    }
}
