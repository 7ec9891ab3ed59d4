package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.net.ConnectException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Orders;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests the lines about refused and failed calls while calls meet the target. */
class LastMinuteTest {

    private static final String HEALTHY = "HEALTHY: calls are within the target of 100 ms\n";

    private final Shop shop = new Shop();

    private void workers(String maxConcurrency) {
        PoolSnapshot workers = PoolSnapshot.builder("workers", PoolKind.WORKERS, 200)
                .now(1, 199, 0)
                .settings(List.of(
                        new PoolSetting("rpc.server.threads", "200", PoolSetting.Source.TUNED),
                        new PoolSetting("rpc.server.queue-capacity", "400", PoolSetting.Source.TUNED),
                        new PoolSetting("rpc.server.max-queue-wait", "50ms", PoolSetting.Source.TUNED),
                        new PoolSetting("rpc.server.max-concurrency", maxConcurrency, PoolSetting.Source.USER)))
                .build();
        shop.pools.add(() -> workers);
    }

    /** Simulates a minute. In every tenth second, a call is refused for the given reason. */
    private void minuteWithRefusals(String reason) {
        for (int i = 0; i < 60; i++) {
            shop.refused.merge(reason, i % 10 == 5 ? 1L : 0L, Long::sum);
            shop.second(100, USUAL);
        }
    }

    /** Simulates a minute. In every tenth second, a call fails. */
    private void minuteWithFailures(@Nullable Throwable failure) {
        for (int i = 0; i < 60; i++) {
            boolean fails = i % 10 == 5;
            shop.second(() -> {
                for (int call = 0; call < 99; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                shop.call(Shop.PLACE, 0, fails ? failure : null, USUAL);
            });
        }
    }

    @Test
    void fewCallsThatTheLimitOfTheServerRefusesAreNamedWithTheLimit() {
        workers("1");
        shop.healthy(USUAL);
        minuteWithRefusals("limit");

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnosis().text())
                .isEqualTo(HEALTHY
                        + "  refused  6 of 6,006 calls in the last minute: more calls were running or waiting than"
                        + " rpc.server.max-concurrency=1 allows\n");
        assertThat(shop.diagnosis().refusedOrFailed())
                .singleElement()
                .asString()
                .startsWith("refused  6 of 6,006");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "share | one caller had too many of the calls that rpc.server.max-concurrency=adaptive allows",
                "queue | the queue was full (rpc.server.threads=200, rpc.server.queue-capacity=400)",
                "wait | no worker became free in time (rpc.server.threads=200, rpc.server.max-queue-wait=50ms)",
                "deadline | their deadline passed before a worker could run them",
                "connection | more unanswered calls than rpc.limits.max-calls-per-connection allows",
                "unread | the caller read its answers too slowly (rpc.limits.max-unsent-answers)",
                "status 503 | the application answered them with status 503",
                "status 429 | the application answered them with status 429"
            })
    void eachReasonOfARefusalIsNamedWithItsLimit(String reason, String text) {
        workers("adaptive");
        shop.healthy(USUAL);
        minuteWithRefusals(reason);

        assertThat(shop.diagnosis().text())
                .startsWith(HEALTHY + "  refused  6 of")
                .contains(text);
    }

    @Test
    void callsThatTheLimitOfTheirMethodRefusesAreNamedWithItsValueAndPlace() {
        shop.healthy(USUAL);
        RpcException refused = RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "OrderService/place refused the call: 4 of 4 are running (fixed, set by @RpcMethod of place)",
                RpcException.Executed.NO);
        for (int i = 0; i < 60; i++) {
            boolean refuses = i % 10 == 5;
            shop.refused.merge("method", refuses ? 1L : 0L, Long::sum);
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                if (refuses) {
                    shop.call(Shop.PLACE, 0, refused, steps -> {});
                }
            });
        }

        assertThat(shop.diagnosis().text())
                .isEqualTo(HEALTHY
                        + "  refused  6 of 6,006 calls in the last minute: the limit of OrderService.place was reached:"
                        + " 4 (fixed, set by @RpcMethod of place)\n");
    }

    @Test
    void fewFailedCallsAreNamedWithTheirExceptionAndLine() {
        shop.healthy(USUAL);
        minuteWithFailures(Orders.closed());

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnosis().text())
                .matches(
                        HEALTHY
                                + "  failed   6 of 6,000 calls in the last minute: IllegalStateException in Orders\\.closed:\\d+\n");
    }

    @Test
    void failuresOfAPeerAreNamedWithThePeer() {
        shop.healthy(call -> USUAL.accept(call.in(Phase.HTTP, "GET carrier:80", 3)));
        for (int i = 0; i < 10; i++) {
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                shop.call(
                        Shop.PLACE,
                        0,
                        new ConnectException("Connection refused"),
                        steps -> steps.in(Phase.HTTP, "GET carrier:80", 1));
            });
        }

        assertThat(shop.diagnosis().text()).contains("minute: GET carrier:80: Connection refused");
    }

    @Test
    void linesDisappearAfterAMinuteWithoutRefusedOrFailedCalls() {
        shop.healthy(USUAL);
        minuteWithFailures(Orders.closed());
        minuteWithFailures(null);

        assertThat(shop.diagnosis().text()).isEqualTo(HEALTHY);
        assertThat(shop.diagnosis().refusedOrFailed()).isEmpty();
    }

    @Test
    void mostFrequentReasonsComeFirstAndTheOthersAreCounted() {
        shop.healthy(USUAL);
        for (int i = 0; i < 60; i++) {
            int second = i;
            shop.refused.merge("status 503", second % 20 == 5 ? 1L : 0L, Long::sum);
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                if (second % 10 == 5) {
                    shop.call(Shop.PLACE, 0, Orders.closed(), USUAL);
                }
            });
        }
        List<String> lines = shop.diagnosis().refusedOrFailed();

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).startsWith("failed   6 of");
        assertThat(lines.get(1)).startsWith("refused  3 of");
    }

    @Test
    void manyFailuresInOneSecondAreCountedAlthoughOnlySomeAreRead() {
        shop.healthy(USUAL);
        shop.second(() -> {
            for (int call = 0; call < 12_000; call++) {
                shop.call(Shop.PLACE, 0, call % 200 == 0 ? Orders.closed() : null, USUAL);
            }
        });

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnosis().refusedOrFailed())
                .singleElement()
                .asString()
                .startsWith("failed   60 of 17,900");
    }
}
