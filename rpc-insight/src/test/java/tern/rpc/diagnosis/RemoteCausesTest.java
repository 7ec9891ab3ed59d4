package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.cause.Cause;

/** Tests causes in other services and in the network. */
class RemoteCausesTest {

    private final Shop shop = new Shop();

    /**
     * Simulates calls with one exchange each. Every seventh call makes a different exchange with the same peer. Returns
     * the cause that the diagnosis names first.
     */
    private static String firstOfTwoExchanges(double secondMillis) {
        Shop shop = new Shop();
        int[] number = {0};
        IntFunction<Consumer<Shop.Steps>> call = millis -> steps -> {
            boolean isSecond = number[0]++ % 7 == 0;
            double now = millis > 0 ? millis : isSecond ? secondMillis : 500;
            steps.own(2).in(Phase.HTTP, isSecond ? "GET carrier:80/labels" : "GET carrier:80/shipments", now);
        };
        shop.healthy(call.apply(10));
        return first(shop.miss(call.apply(0))).title();
    }

    @Test
    void peerThatAnswersNoneOfItsRequestsInTimeIsOneCauseAlthoughOneRequestIsMoreFrequent() {
        assertThat(firstOfTwoExchanges(500)).isEqualTo("SLOW HTTP PEER: carrier:80");
    }

    @Test
    void requestIsTheCauseIfAnotherOneToItsPeerIsNotSlow() {
        assertThat(firstOfTwoExchanges(11)).isEqualTo("SLOW HTTP PEER: GET carrier:80/shipments");
    }

    @Test
    void providerThatTakesLongIsNamed() {
        Diagnosis miss = shop.healthy(USUAL).miss(call -> call.own(2).in(Phase.RPC, "StockService.reserve", 148));

        assertThat(first(miss).kind()).isEqualTo("PEER");
        assertThat(first(miss).name()).isEqualTo("StockService.reserve");
        assertThat(miss.text()).contains("MISS since").contains("PEER: StockService.reserve");
    }

    private static Consumer<Shop.Steps> providers(String first, String second, double millis) {
        return call -> call.own(2).in(Phase.RPC, first, millis).in(Phase.RPC, second, millis + 5);
    }

    @Test
    void serviceWhoseProvidersAreSlowTogetherIsASlowPeer() {
        String one = "StockService.find at stock-1:20880";
        String other = "StockService.find at stock-2:20880";
        Diagnosis miss = shop.healthy(providers(one, other, 3)).miss(providers(one, other, 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER: StockService");
        assertThat(first(miss).change().text()).contains("the diagnosis of the providers of StockService");
    }

    @Test
    void providersOfSeveralServicesThatAreSlowTogetherShowASlowNetwork() {
        String one = "StockService.find at stock-1:20880";
        String other = "RateService.find at rates-1:20880";
        Diagnosis miss = shop.healthy(providers(one, other, 3)).miss(providers(one, other, 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW NETWORK: every provider");
    }

    @Test
    void onlyProviderWhoseMethodsAreSlowTogetherIsNoSlowNetworkAlthoughStreamsHaveNoAddress() {
        IntFunction<Consumer<Shop.Steps>> calls = millis -> call -> call.own(2)
                .in(Phase.RPC, "StockService.find at stock-1:20880", millis)
                .in(Phase.RPC, "RateService.find at stock-1:20880", millis + 5.0)
                .in(Phase.RPC, "RateService.follow", millis + 2.0);
        Diagnosis miss = shop.healthy(calls.apply(3)).miss(calls.apply(70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER: stock-1:20880");
    }

    /** Two methods of a provider become slower by the same amount, and its other methods answer as usual. */
    @Test
    void providerWhoseOtherMethodsAnswerAsUsualIsNotSlowAsAWhole() {
        String place = "OrderService.place at 10.0.0.9:20880";
        String quote = "PricingService.quote at 10.0.0.9:20880";
        String stock = "StockService.level at 10.0.0.9:20880";
        double[] more = {0};
        Runnable calls = () -> {
            for (int i = 0; i < 102; i++) {
                String method = List.of(place, quote, stock).get(i % 3);
                double millis = List.of(30 + more[0], 12 + more[0], 5.0).get(i % 3);
                shop.call("web " + method, 0, call -> call.own(2).in(Phase.RPC, method, millis));
            }
        };
        for (int i = 0; i < 90; i++) {
            shop.second(calls);
        }
        more[0] = 800;
        for (int i = 0; i < 6; i++) {
            shop.second(calls);
        }

        Cause first = first(shop.diagnosis());
        assertThat(first.kind()).isEqualTo("PEER");
        assertThat(first.name()).as(shop.diagnosis().text()).isIn(place, quote);
        assertThat(first.change().text()).doesNotContain("check the network to");
    }

    /**
     * Simulates a method with two operations that become slower by the same amount. Another method runs a third
     * operation in its usual time, but too few of its calls are recorded to show that. Returns the cause that the
     * diagnosis names first.
     */
    private Cause besideAPunctualMethod(Phase phase, String one, String other, String punctual) {
        double[] more = {0};
        Runnable calls = () -> {
            for (int i = 0; i < 40; i++) {
                shop.call(
                        "web.POST /charges",
                        0,
                        call -> call.own(2).in(phase, one, 9 + more[0]).in(phase, other, 12 + more[0]));
            }
            for (int i = 0; i < 3; i++) {
                shop.call("web.GET /sites", 0, call -> call.own(1).in(phase, punctual, 3));
            }
        };
        for (int i = 0; i < 90; i++) {
            shop.second(calls);
        }
        more[0] = 280;
        for (int i = 0; i < 6; i++) {
            shop.second(calls);
        }
        return first(shop.diagnosis());
    }

    @Test
    void providerThatPunctualCallsAlsoUseIsNotSlowAsAWhole() {
        Cause first = besideAPunctualMethod(
                Phase.RPC,
                "StationService.start at 10.0.0.9:1",
                "StationService.stop at 10.0.0.9:1",
                "StationService.state at 10.0.0.9:1");

        assertThat(DiagnosisText.title(first)).startsWith("PEER: StationService.st");
        assertThat(first.change().text()).doesNotContain("check the network to");
    }

    @Test
    void databaseThatPunctualCallsAlsoUseIsNotSlowAsAWhole() {
        Cause first = besideAPunctualMethod(Phase.SQL, "update charge", "select meter", "select site");

        assertThat(first.kind()).isNotEqualTo("SLOW DATABASE");
    }

    @Test
    void failureOfAnotherServiceIsThePeers() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            new RpcException(StatusCode.UNAVAILABLE, "no provider"),
                            steps -> steps.in(Phase.RPC, "StockService.reserve", 1));
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("PEER FAILS");
    }

    /**
     * Simulates calls of two methods at two providers that fail with the given shares. Returns the cause that the
     * diagnosis names first.
     */
    private Diagnosis failingAtTwoProviders(int firstProvider, int secondProvider) {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < firstProvider + secondProvider; call++) {
                    String method = call % 3 == 0 ? "StockService.find" : "StockService.reserve";
                    String address = call < firstProvider ? "10.0.0.7:20880" : "10.0.0.8:20880";
                    shop.call(
                            Shop.PLACE,
                            0,
                            new RpcException(StatusCode.UNKNOWN, "failed"),
                            steps -> steps.in(Phase.RPC, method + " at " + address + " (failed UNKNOWN)", 4));
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void providersThatFailAlikeAreOneCause() {
        Diagnosis miss = failingAtTwoProviders(50, 50);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: StockService at 2 providers: UNKNOWN");
        assertThat(first(miss).change().text()).startsWith("read the diagnosis and the log of");
        assertThat(first(miss).evidence()).contains("all      fail alike: 10.0.0.7:20880, 10.0.0.8:20880");
        assertThat(first(miss).evidence()).contains("failed   256 of 256 recorded calls for this reason");
    }

    @Test
    void providerThatFailsMoreThanTheOthersIsItsOwnCause() {
        Diagnosis miss = failingAtTwoProviders(90, 10);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: StockService at 10.0.0.7:20880: UNKNOWN");
    }

    @Test
    void networkIsNotTheCauseOfTwoSlowPeersWhileAnotherPeerIsQuick() {
        Consumer<Shop.Steps> label = call -> call.own(1).in(Phase.HTTP, "GET printer:80/print", 2);
        shop.healthy(USUAL);
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            steps -> steps.in(Phase.HTTP, "GET carrier:80/levels", 2)
                                    .in(Phase.HTTP, "GET rates:80/rates", 2));
                    shop.call("LabelService.label", 0, label);
                }
            });
        }
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            steps -> steps.in(Phase.HTTP, "GET carrier:80/levels", 150)
                                    .in(Phase.HTTP, "GET rates:80/rates", 170));
                    shop.call("LabelService.label", 0, label);
                }
            });
        }

        assertThat(first(shop.diagnosis()).name()).isEqualTo("GET rates:80/rates");
        assertThat(shop.diagnosis().causes()).noneMatch(cause -> cause.kind().equals("SLOW NETWORK"));
    }

    /** Simulates calls to one of two laboratories, and calls to a quick insurer. Some answers may be slow. */
    private void seconds(int count, IntToDoubleFunction laboratoryMillis) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    String operation = "LabService.findings at lab-" + (call % 3 == 2 ? 2 : 1) + ":20880";
                    double millis = laboratoryMillis.applyAsDouble(call);
                    shop.call("Desk.findings", 0, steps -> steps.own(1).in(Phase.RPC, operation, millis));
                    shop.call(
                            "Desk.admit",
                            0,
                            steps -> steps.own(1).in(Phase.RPC, "InsurerService.coverage at insurer-1:20880", 5));
                }
            });
        }
    }

    @Test
    void methodThatIsSlowerAtAllOfItsProvidersIsOneCause() {
        seconds(90, call -> 8);
        seconds(6, call -> call % 4 == 0 ? 250 : 8);

        Diagnosis miss = shop.diagnosis();
        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER: LabService.findings");
        assertThat(first(miss).change().text())
                .startsWith("read the diagnosis of the providers of LabService.findings, which is slower at all of"
                        + " them")
                .doesNotContain("do not use a slow endpoint");
        assertThat(first(miss).evidence())
                .contains("slower   2 of 2 endpoints")
                .anyMatch(line -> line.startsWith("took") && line.endsWith("usually 8.0 ms"));
    }

    @Test
    void methodThatIsSlowerAtOneOfItsProvidersIsNamedWithTheProvider() {
        seconds(90, call -> 8);
        seconds(6, call -> call % 3 == 2 ? 250 : 8);

        Diagnosis miss = shop.diagnosis();
        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER: LabService.findings at lab-2:20880");
        assertThat(first(miss).change().text()).contains("do not use a slow endpoint");
        assertThat(first(miss).evidence()).contains("only     this of 2 endpoints");
    }
}
