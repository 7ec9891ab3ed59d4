package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;

/** Tests refusals by limits of the application. */
class RefusedCallsTest {

    private static final Consumer<Shop.Steps> SLOW = call -> call.own(2).in(Phase.SQL, "select stock", 300);

    private final Shop shop = new Shop().healthy(USUAL);

    private Diagnosis refusing(String reason, long refused, int served, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.refused.merge(reason, refused, Long::sum);
            shop.second(served, calls);
        }
        return shop.diagnosis();
    }

    @ParameterizedTest
    @ValueSource(strings = {"status 503", "status 429", "method", "connection"})
    void callsThatALimitRefusesBecauseOthersAreSlowAreASymptom(String reason) {
        Diagnosis miss = refusing(reason, 80, 20, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.text()).contains("calls are refused (" + reason + ")");
    }

    @Test
    void limitThatRefusesMoreCallsThanUsualIsTheCause() {
        Diagnosis miss = refusing("status 503", 300, 20, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: status 503");
    }

    @Test
    void limitThatRefusesUsualCallsIsTheCause() {
        Diagnosis miss = refusing("status 429", 50, 50, USUAL);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: status 429");
    }

    @Test
    void limitOfOneCallerThatSendsTooMuchIsNoMiss() {
        Diagnosis diagnosis = refusing("status 429", 200, 100, USUAL);

        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void limitOfOneCallerDoesNotHideTheCauseOfAMiss() {
        refusing("status 429", 200, 100, USUAL);
        Diagnosis miss = refusing("status 429", 200, 100, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.causes()).noneMatch(cause -> cause.kind().equals("LIMIT"));
    }
}
