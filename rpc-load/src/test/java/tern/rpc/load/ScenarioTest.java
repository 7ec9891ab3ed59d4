package tern.rpc.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ScenarioTest {

    @Test
    void stepsGetTheirShare() {
        Scenario scenario = Scenario.builder()
                .step("often", 7, number -> {})
                .step("seldom", 3, number -> {})
                .build();

        long often = LongStream.range(0, 100_000)
                .filter(number -> scenario.pick(number) == 0)
                .count();

        assertThat(often).isCloseTo(70_000, within(1_000L));
    }

    @Test
    void sameNumberPicksTheSameStep() {
        Scenario one = Scenario.builder()
                .step("a", 1, number -> {})
                .step("b", 1, number -> {})
                .build();
        Scenario other = Scenario.builder()
                .step("a", 1, number -> {})
                .step("b", 1, number -> {})
                .build();

        assertThat(LongStream.range(0, 100)).allMatch(number -> one.pick(number) == other.pick(number));
    }

    @Test
    void emptyScenarioAndEmptyShareAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Scenario.builder().build())
                .withMessage("a scenario has at least one step");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Scenario.builder().step("none", 0, number -> {}))
                .withMessage("weight of none is 0; expected 1 or more");
    }
}
