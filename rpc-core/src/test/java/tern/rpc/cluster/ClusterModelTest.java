package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.cluster.ClusterModel.Call;
import tern.rpc.cluster.ClusterModel.Counts;
import tern.rpc.cluster.ClusterModel.Fault;
import tern.rpc.cluster.ClusterModel.Treatment;
import tern.rpc.endpoint.Outcome;

/**
 * Tests the effects of faulty providers in a simulation. The random numbers are seeded, so each run has the same
 * result.
 */
class ClusterModelTest {

    private static final int SEED = 1;
    private static final int FEW = 4;
    private static final int MANY = 200;
    private static final int WORKERS = 16;

    /** The faults of the simulated providers. Each fault lasts 20 s. */
    private enum Faults implements Fault {
        SLOW {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.serve(10);
            }
        },
        HANGS {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.HANG;
            }

            @Override
            public boolean answersPings() {
                return false;
            }
        },
        ONLY_ANSWERS_PINGS {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.HANG;
            }
        },
        FAILS {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.end(Outcome.FAILED);
            }
        },
        /** The provider refuses each call before running it. */
        REFUSES {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.refuse();
            }
        },
        /** The provider accepts connections, and resets each of them when a call arrives. */
        RESETS_ITS_CONNECTIONS {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.RESET;
            }
        },
        FAILS_EACH_TENTH_CALL {
            @Override
            public Treatment of(Call call, long now) {
                return call.number % 10 == 0 ? Treatment.end(Outcome.FAILED) : Treatment.serve(1);
            }
        },
        FAILS_THREE_OF_TEN_CALLS {
            @Override
            public Treatment of(Call call, long now) {
                return call.number % 10 < 3 ? Treatment.end(Outcome.FAILED) : Treatment.serve(1);
            }
        },
        /** The provider is slow for large requests, which are a fifth of the calls. */
        SLOW_FOR_LARGE_REQUESTS {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.serve(call.number % 5 == 0 ? 10 : 1);
            }
        },
        THREE_TIMES_SLOWER {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.serve(3);
            }
        },
        /** The provider loses every third answer, for example because a proxy truncates long answers. */
        LOSES_EACH_THIRD_ANSWER {
            @Override
            public Treatment of(Call call, long now) {
                return call.number % 3 == 0 ? Treatment.HANG : Treatment.serve(1);
            }
        },
        FAILS_FOR_ONE_METHOD {
            @Override
            public Treatment of(Call call, long now) {
                return call.method.equals("other") ? Treatment.end(Outcome.FAILED) : Treatment.serve(1);
            }
        },
        SLOW_FOR_ONE_METHOD {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.serve(call.method.equals("other") ? 10 : 1);
            }
        },
        REFUSES_ONE_METHOD {
            @Override
            public Treatment of(Call call, long now) {
                return call.method.equals("other") ? Treatment.end(Outcome.REFUSED) : Treatment.serve(1);
            }
        },
        /** The provider is slow for 5 s, healthy for 5 s, and so on. */
        ALTERNATELY_SLOW {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.serve(10);
            }

            @Override
            public boolean isNow(long now) {
                return super.isNow(now) && now / (5 * ClusterModel.SECOND) % 2 == 1;
            }
        },
        /** The provider fails for 5 s, is healthy for 5 s, and so on. */
        ALTERNATES {
            @Override
            public Treatment of(Call call, long now) {
                return Treatment.end(Outcome.FAILED);
            }

            @Override
            public boolean isNow(long now) {
                return super.isNow(now) && now / (5 * ClusterModel.SECOND) % 2 == 1;
            }
        };
    }

    private static Counts run(Fault fault, int faulty, int clients, double idempotent) {
        return run(fault, faulty, clients, idempotent, WORKERS, SEED);
    }

    private static Counts run(Fault fault, int faulty, int clients, double idempotent, int workers, int seed) {
        ClusterModel model = new ClusterModel(clients, workers, seed)
                .idempotent(idempotent)
                .methods(Map.of("get", 1.0, "other", 1.0));
        for (int i = 0; i < faulty; i++) {
            model.fault(i, fault);
        }
        return model.run();
    }

    /** Runs two simulations at the same time: one with few and one with many clients. */
    private static List<Counts> fewAndMany(Fault fault, int faulty, double idempotent) {
        return IntStream.of(FEW, MANY)
                .parallel()
                .mapToObj(clients -> run(fault, faulty, clients, idempotent))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"SLOW, 0.5", "HANGS, 0.5", "FAILS, 0.5", "FAILS, 0", "SLOW, 0", "HANGS, 0"})
    void fourClientsLoseNearlyNothing(Faults fault, double idempotent) {
        List<Counts> runs = IntStream.rangeClosed(1, 2)
                .parallel()
                .mapToObj(seed -> run(fault, 1, FEW, idempotent, WORKERS, seed))
                .toList();

        for (Counts counts : runs) {
            assertThat(counts.failedPercent()).isLessThanOrEqualTo(0.05);
            assertThat(counts.sharePercent()).as("share after one second").isLessThan(1);
        }
        if (idempotent > 0) {
            // The mean of several runs is checked, because a single run depends on the random response times of four
            // recoveries.
            assertThat(average(runs, Counts::fifthPercent))
                    .as("share in the fifth second")
                    .isGreaterThan(8);
            assertThat(average(runs, Counts::curedPercent))
                    .as("share after the recovery")
                    .isGreaterThan(8);
        }
    }

    private static double average(List<Counts> runs, ToDoubleFunction<Counts> value) {
        return runs.stream().mapToDouble(value).average().orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"SLOW, 0.5", "HANGS, 0.5", "FAILS, 0.5", "FAILS, 0", "SLOW, 0", "HANGS, 0"})
    void clientsOfALowRateLoseAboutOneCallEach(Faults fault, double idempotent) {
        Counts counts = run(fault, 1, MANY, idempotent);

        // without idempotent calls, the client can test the provider only with calls that may fail
        assertThat(counts.failed / (double) MANY).isLessThan(fault == Faults.FAILS && idempotent == 0 ? 1.8 : 1.1);
        assertThat(counts.mostOfAClient()).isLessThanOrEqualTo(4);
        if (idempotent > 0) {
            assertThat(counts.fifthPercent()).as("share in the fifth second").isGreaterThan(8);
            assertThat(counts.curedPercent()).as("share after the recovery").isGreaterThan(8);
        }
    }

    /**
     * Averages several runs, because the result of a single run depends on how many clients happen to call the provider
     * in the first second of the fault.
     */
    @Test
    void slowProviderFailsFewCallsOfClientsOfALowRate() {
        double percent = IntStream.rangeClosed(1, 4)
                .parallel()
                .mapToDouble(
                        seed -> run(Faults.SLOW, 1, MANY, 0.5, WORKERS, seed).failedPercent())
                .average()
                .orElseThrow();

        assertThat(percent).isLessThanOrEqualTo(0.05);
    }

    /**
     * With two workers, the slow provider serves 20 calls a second, but each of 200 clients must notice the recovery.
     * Each client must wait for the answer to a copy before it sends the next copy. Otherwise, the provider would serve
     * old copies for many seconds after the fault.
     */
    @Test
    void overloadedProviderGetsItsCallsBackWithinFiveSeconds() {
        List<Counts> runs = IntStream.rangeClosed(1, 4)
                .parallel()
                .mapToObj(seed -> run(Faults.SLOW, 1, MANY, 0.5, 2, seed))
                .toList();

        assertThat(average(runs, Counts::fifthPercent))
                .as("share in the fifth second")
                .isGreaterThan(8);
        assertThat(runs).allMatch(run -> run.mostOfAClient() <= 3);
    }

    /** With two workers, a provider that resumes is overloaded if all clients call it at the same time. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.5})
    void providerThatWasSilentGetsItsCallsBackFromManyClientsOfALowRate(double idempotent) {
        List<Counts> runs = IntStream.rangeClosed(1, 4)
                .parallel()
                .mapToObj(seed -> run(Faults.HANGS, 1, MANY, idempotent, 2, seed))
                .toList();

        assertThat(average(runs, Counts::fifthPercent))
                .as("share in the fifth second")
                .isGreaterThan(8);
        assertThat(runs).allMatch(run -> run.mostOfAClient() <= 2);
    }

    /** Without idempotent calls, the application's own calls must show that the provider has recovered. */
    @ParameterizedTest
    @CsvSource({
        "SLOW, 4, 16",
        "SLOW, 4, 2",
        "SLOW, 200, 16",
        "HANGS, 4, 16",
        "HANGS, 4, 2",
        "HANGS, 200, 16",
        "REFUSES, 4, 16",
        "REFUSES, 200, 16",
        "FAILS, 4, 16"
    })
    void recoveredProviderGetsItsCallsBackWithoutIdempotentCalls(Faults fault, int clients, int workers) {
        List<Counts> runs = IntStream.rangeClosed(1, 2)
                .parallel()
                .mapToObj(seed -> run(fault, 1, clients, 0, workers, seed))
                .toList();

        assertThat(average(runs, Counts::fifthPercent))
                .as("share in the fifth second")
                .isGreaterThan(8);
        assertThat(average(runs, Counts::lateFailedPercent))
                .as("failed calls after the first three seconds")
                .isLessThanOrEqualTo(0.05);
    }

    @Test
    void callsThatShowHowSlowAProviderIsHardlyCostTheirCallers() {
        double healthy = run(Faults.SLOW, 0, MANY, 0).p99Millis();
        List<Counts> runs = fewAndMany(Faults.SLOW, 1, 0);

        assertThat(runs.get(1).p99Millis()).isLessThan(1.31 * healthy);
        assertThat(runs.get(0).p99Millis()).isLessThan(1.3 * healthy);
    }

    /** A lost connection counts as a provider failure, even if the provider accepts the next connection. */
    @Test
    void providerThatResetsItsConnectionsGetsFewCalls() {
        List<Counts> runs = fewAndMany(Faults.RESETS_ITS_CONNECTIONS, 1, 0);
        Counts few = runs.get(0);
        Counts many = runs.get(1);

        assertThat(few.failedPercent()).isLessThanOrEqualTo(0.1);
        assertThat(many.failed / (double) MANY).isLessThan(4);
        assertThat(few.curedPercent()).isGreaterThan(1);
    }

    /** When the fault begins, the idle clients have measured no response times for a minute. */
    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {"SLOW", "HANGS", "FAILS"})
    void clientsThatWereIdleBeforeTheFaultLoseNoMoreCallsThanOthers(Faults fault) {
        Counts counts =
                new ClusterModel(MANY, WORKERS, SEED).halfIdle().fault(0, fault).run();

        assertThat(counts.failed / (double) MANY).isLessThan(2);
        assertThat(counts.mostOfAClient()).isLessThanOrEqualTo(5);
    }

    /**
     * Each client needs about one failed call to notice each faulty provider, and later tries a failing provider again.
     * A client that draws a pair of faulty providers draws another pair. Otherwise, each client would lose up to ten
     * times as many calls.
     */
    @ParameterizedTest
    @CsvSource({"SLOW, 2.5", "HANGS, 3.6", "FAILS, 4.8"})
    void threeFaultyProvidersCostOnlyTheCallsByWhichTheyAreRecognised(Faults fault, double perClient) {
        List<Counts> runs = fewAndMany(fault, 3, 0);

        assertThat(runs.get(1).failed / (double) MANY).isLessThan(perClient);
        assertThat(runs.get(0).failedPercent()).isLessThan(0.1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {
                "ONLY_ANSWERS_PINGS",
                "FAILS_EACH_TENTH_CALL",
                "FAILS_THREE_OF_TEN_CALLS",
                "LOSES_EACH_THIRD_ANSWER",
                "FAILS_FOR_ONE_METHOD",
                "ALTERNATES"
            })
    void partialFaultsCostLittle(Faults fault) {
        List<Counts> runs = fewAndMany(fault, 1, 0.5);

        assertThat(runs.get(0).failedPercent()).isLessThan(0.12);
        assertThat(runs.get(1).failed / (double) MANY)
                .as("failed calls of a client")
                .isLessThan(4);
    }

    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {"SLOW_FOR_LARGE_REQUESTS", "THREE_TIMES_SLOWER", "ALTERNATELY_SLOW"})
    void providerThatIsSometimesOrSlightlySlowFailsNearlyNoCall(Faults fault) {
        List<Counts> runs = fewAndMany(fault, 1, 0.5);
        Counts few = runs.get(0);
        Counts many = runs.get(1);

        assertThat(few.failedPercent()).isLessThanOrEqualTo(0.05);
        assertThat(many.failedPercent()).isLessThanOrEqualTo(0.15);
        assertThat(few.fifthPercent()).isGreaterThan(8);
        assertThat(many.fifthPercent()).isGreaterThan(8);
    }

    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {"SLOW", "HANGS", "FAILS"})
    void oneFaultyProviderOfThreeCostsFewClientsNearlyNothing(Faults fault) {
        Counts counts = new ClusterModel(FEW, WORKERS, SEED)
                .providers(3)
                .idempotent(0.5)
                .fault(0, fault)
                .run();

        assertThat(counts.failedPercent()).isLessThanOrEqualTo(0.1);
        assertThat(counts.fifthPercent()).isGreaterThan(25);
    }

    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {"SLOW_FOR_ONE_METHOD", "REFUSES_ONE_METHOD"})
    void providerThatIsSlowOrOverloadedForOneMethodIsNotEjected(Faults fault) {
        Counts counts = run(fault, 1, FEW, 0);

        assertThat(counts.ejections).isZero();
        assertThat(counts.sharePercent("get", 0))
                .as("share of the other method")
                .isPositive();
        assertThat(counts.curedPercent()).isGreaterThan(8);
    }

    @ParameterizedTest
    @EnumSource(
            value = Faults.class,
            names = {"SLOW", "FAILS"})
    void callsAreSpreadEvenlyIfAllProvidersAreFaulty(Faults fault) {
        Counts counts = run(fault, ClusterModel.PROVIDERS, FEW, 0);

        for (int i = 0; i < ClusterModel.PROVIDERS; i++) {
            assertThat(counts.sharePercent("get", i)).isBetween(5.0, 20.0);
        }
    }

    @Test
    void slowProviderDoesNotShowInTheResponseTimes() {
        double healthy = run(Faults.SLOW, 0, FEW, 0.5).p99Millis();

        assertThat(run(Faults.SLOW, 1, FEW, 0.5).p99Millis()).isLessThan(1.3 * healthy);
    }

    @Test
    void roundRobinAvoidsASilentProviderToo() {
        Counts counts = new ClusterModel(FEW, WORKERS, 1)
                .policy(Policies.ROUND_ROBIN)
                .fault(0, Faults.HANGS)
                .run();

        assertThat(counts.failedPercent()).isLessThanOrEqualTo(0.2);
    }
}
