package tern.rpc.diagnosis.data;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.pool.BodySizes;

/** Tests HTTP exchanges whose answers or requests become large. */
class LargeBodiesTest {

    private static final double HUGE = 12_000_000;

    private final Shop shop = new Shop();
    // The sizes belong to the process, so each test needs a different peer.
    private final String peer = UUID.randomUUID() + ":80";
    private final String exchange = "GET " + peer + "/tariff";

    private void seconds(int count, double millis, double answer, double request) {
        for (int i = 0; i < count; i++) {
            shop.second(20, call -> {
                call.in(Phase.HTTP, exchange, millis).own(2);
                BodySizes.ANSWERS.add(exchange, (long) answer);
                BodySizes.REQUESTS.add(exchange, (long) request);
            });
        }
    }

    private String title() {
        return DiagnosisText.title(first(shop.diagnosis()));
    }

    @Test
    void exchangeWhoseAnswersBecomeLargeIsNamedWithTheirSize() {
        seconds(90, 16, 60, 0);
        seconds(8, 180, HUGE, 0);

        Cause first = first(shop.diagnosis());
        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("LARGE ANSWERS: " + exchange);
        assertThat(first.change().text())
                .startsWith("request fewer or smaller elements in the answer of " + exchange)
                .containsPattern("an answer has 12 MB, usually [67]\\d bytes");
        assertThat(first.evidence()).anyMatch(line -> line.matches("size     12 MB an answer, usually [67]\\d bytes"));
    }

    @Test
    void exchangeWhoseRequestsBecomeLargeIsNamedWithTheirSize() {
        seconds(90, 16, 60, 2_000);
        seconds(8, 180, 60, 5_000_000);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("LARGE REQUESTS: " + exchange);
        assertThat(first(shop.diagnosis()).change().text())
                .startsWith("send fewer or smaller elements in the request " + exchange)
                .contains("a request has 5 MB, usually 2");
    }

    @Test
    void exchangeThatBecomesSlowWithItsUsualSizeIsASlowPeer() {
        seconds(90, 16, 400_000, 0);
        seconds(8, 180, 400_000, 0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + exchange);
        assertThat(first(shop.diagnosis()).evidence()).contains("size     400 KB an answer, usually 400 KB");
    }

    @ParameterizedTest
    @ValueSource(doubles = {9_000, 300_000})
    void sizeThatDoesNotExplainTheTimeIsNotTheCause(double bytes) {
        seconds(90, 16, 2_000, 0);
        seconds(8, 900, bytes, 0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + exchange);
    }

    @Test
    void sizesOfOnlyAFewAnswersAreNotTheCause() {
        seconds(90, 16, 60, 0);
        for (int i = 0; i < 8; i++) {
            int second = i;
            shop.second(20, call -> {
                call.in(Phase.HTTP, exchange, 180).own(2);
                if (second == 7) {
                    BodySizes.ANSWERS.add(exchange, 60);
                }
            });
        }

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + exchange);
    }

    @Test
    void otherExchangesWithThePeerAreSlowBecauseOfTheLargeOne() {
        String other = "GET " + peer + "/rates";
        for (int i = 0; i < 98; i++) {
            boolean isLarge = i >= 90;
            shop.second(20, call -> {
                call.in(Phase.HTTP, exchange, isLarge ? 250 : 16).in(Phase.HTTP, other, isLarge ? 90 : 10);
                BodySizes.ANSWERS.add(exchange, isLarge ? (long) HUGE : 60);
                BodySizes.ANSWERS.add(other, 60);
            });
        }

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("LARGE ANSWERS: " + exchange);
    }

    /** Simulates large answers in calls to one method, while the collector stops the calls to both methods. */
    private Cause firstWithCollector(Machine machine) {
        for (int i = 0; i < 98; i++) {
            boolean isLarge = i >= 90;
            if (i == 90) {
                shop.machine = machine;
                shop.pauses = (from, to) -> {
                    Times stood = new Times();
                    stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.6);
                    return stood;
                };
            }
            shop.second(() -> {
                for (int call = 0; call < 10; call++) {
                    shop.call("web.GET /quotes", 0, steps -> {
                        steps.own(2).in(Phase.HTTP, exchange, isLarge ? 400 : 16);
                        BodySizes.ANSWERS.add(exchange, isLarge ? (long) HUGE : 60);
                    });
                }
                for (int call = 0; call < 40; call++) {
                    shop.call("web.GET /search", 0, steps -> steps.own(isLarge ? 250 : 4));
                }
            });
        }
        return first(shop.diagnosis());
    }

    private static Machine collecting() {
        return new Machine(2, 0.8, 0.2, 0, 0.4, 0.4, "G1 Evacuation Pause", 300e6, 3e6, List.of(), 0, null, List.of());
    }

    @Test
    void pausesOfTheCollectorBelongToTheLargeAnswers() {
        Cause first = firstWithCollector(collecting());

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("LARGE ANSWERS: " + exchange);
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("the garbage collector stops calls"));
        assertThat(shop.diagnosis().causes()).noneMatch(cause -> cause.kind().startsWith("COLLECTOR"));
    }

    @Test
    void heapThatFillsWithLargeAnswersIsTheirConsequence() {
        firstWithCollector(collecting().growing(new HeapGrowth(0.4, 0.88, 4, 60e6, 1)));

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("LARGE ANSWERS: " + exchange);
    }

    @Test
    void heapThatFillsMuchFasterThanWithLargeAnswersKeepsItsCause() {
        firstWithCollector(collecting().growing(new HeapGrowth(0.4, 0.88, 4, 9_000e6, 1)));

        assertThat(title()).as(shop.diagnosis().text()).startsWith("COLLECTOR: heap");
    }
}
