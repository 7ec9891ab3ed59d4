package tern.rpc.load.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class ReplayTableTest {

    private static final Round ROUND = Round.ALL.get(1);

    @Test
    void rowHasTheKneeAndTheFirstDiagnosis() {
        String table = ReplayTable.markdown(List.of(result(false, step(280, 71.23, 0), "POOL TOO SMALL")));

        assertThat(table.lines()).hasSize(3);
        assertThat(table)
                .contains("| 2 | HTTP: total 300, per host 8 | 280 | 25 | 71.2 | 180 | provider 0.8, machine 95 % |")
                .contains("| POOL TOO SMALL: http; \"quoted\", a.property=300 |");
    }

    @Test
    void rowWithoutAKneeSaysThatNoRateMetTheTarget() {
        assertThat(ReplayTable.markdown(List.of(result(false, null, "POOL TOO SMALL"))))
                .contains("| none held; at 400 |");
    }

    @Test
    void valuesWithCommasAndQuotationMarksAreQuoted() {
        String csv = ReplayTable.csv(List.of(result(false, step(280, 71.23, 0), "POOL TOO SMALL")));

        assertThat(csv.lines().toList())
                .hasSize(3)
                .element(1)
                .asString()
                .startsWith("2,false,\"HTTP: total 300, per host 8\",knee,280,280,25,71.2,180,0,0.80,0.95");
        assertThat(csv).contains("\"POOL TOO SMALL: http; \"\"quoted\"\", a.property=300\"");
    }

    @Test
    void mistakeThatIsNamedAndClearlyWorseIsShown() {
        assertThat(Verdicts.of(List.of(
                        result(false, step(280, 71, 0), "POOL TOO SMALL"),
                        result(true, step(400, 80, 0), "MANY COMMANDS"))))
                .hasSize(2)
                .noneMatch(Verdicts::isBad);
    }

    @Test
    void wrongCauseAndSmallDifferenceAreBadVerdicts() {
        assertThat(Verdicts.of(List.of(
                        result(false, step(290, 71, 0), "MANY COMMANDS"),
                        result(true, step(400, 80, 0), "MANY COMMANDS"))))
                .hasSize(2)
                .allMatch(Verdicts::isBad);
    }

    @Test
    void fixWithoutAMistakeToCompareIsNotJudged() {
        assertThat(Verdicts.of(List.of(result(true, step(400, 80, 0), "MANY COMMANDS"))))
                .isEmpty();
    }

    @Test
    void pageShowsEveryBarAndEscapesForeignText() {
        Result result = result(false, step(280, 71, 0), "POOL TOO SMALL");

        String page = new ReplayPage(List.of(result), Map.of("stores", "a < b"), List.of()).html();

        assertThat(page)
                .contains(
                        "a &lt; b",
                        "less than 50.0 ms: 1000 calls",
                        "&quot;quoted&quot;",
                        "<td>POOL TOO SMALL: http</td>")
                .doesNotContain("a < b")
                .doesNotContain("http://", "https://");
    }

    @Test
    void reportOfALoadIsRead() {
        Step step = Step.of(300, JsonMapper.builder().build().readTree("""
            {"total": {"qps": 299.5, "p50Millis": 20.5, "p99Millis": 150.0, "maxMillis": 300.0, "calls": 1798, "errors": 2},
             "errors": {"UNAVAILABLE": {"count": 2, "first": "no connection"}},
             "distribution": [{"upToMillis": 25.0, "calls": 1700}, {"upToMillis": 300.5, "calls": 98}]}
            """), 0.5, 0.9);

        assertThat(step.firstError()).isEqualTo("UNAVAILABLE: no connection");
        assertThat(step.buckets()).containsExactly(new Step.Bucket(25, 1_700), new Step.Bucket(300.5, 98));
        assertThat(step.outcome()).isEqualTo(KneeSearch.Outcome.MISSED);
    }

    @Test
    void loadIsJudgedByItsSlowestHundredthAndItsErrors() {
        assertThat(step(300, 99.9, 0).outcome()).isEqualTo(KneeSearch.Outcome.HELD);
        assertThat(step(300, 990, 0).outcome()).isEqualTo(KneeSearch.Outcome.NEAR_MISS);
        assertThat(step(300, 50, 1).outcome()).isEqualTo(KneeSearch.Outcome.NEAR_MISS);
        assertThat(step(300, 1_010, 0).outcome()).isEqualTo(KneeSearch.Outcome.MISSED);
        assertThat(step(300, 50, 2).outcome()).isEqualTo(KneeSearch.Outcome.MISSED);
    }

    @Test
    void diagnosisIsReadWithItsCauses() {
        Answer answer = Answer.of(JsonMapper.builder().build().readTree("""
            {"version": 1, "state": "MISS", "text": "MISS since 14:02:07", "causes": [
              {"kind": "FAIR LOCK", "name": "druid", "ms": 300.5, "ofMs": 310, "change": {"text": "c"}}]}
            """));

        assertThat(answer.firstTitle()).isEqualTo("FAIR LOCK: druid");
        assertThat(answer.first()).isEqualTo("FAIR LOCK: druid; c");
        assertThat(answer.causes()).containsExactly(new Answer.Cause("FAIR LOCK", "druid", 300.5, 310, "c"));
        assertThat(answer.text()).isEqualTo("MISS since 14:02:07");
    }

    private static Result result(boolean fixed, @Nullable Step knee, String kind) {
        Answer answer = new Answer(
                List.of(new Answer.Cause(kind, "http", 190, 200, "\"quoted\", a.property=300")), "MISS of the target");
        return new Result(ROUND, fixed, knee == null ? List.of() : List.of(knee), knee, step(400, 2_000, 0), answer);
    }

    private static Step step(double rate, double p99, long errors) {
        return new Step(rate, rate, 25, p99, 180, 1_000, errors, "", 0.8, 0.95, List.of(new Step.Bucket(50, 1_000)));
    }
}
