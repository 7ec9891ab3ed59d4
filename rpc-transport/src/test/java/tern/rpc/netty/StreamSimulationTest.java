package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.SimulatedSides.Mishap;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;

/**
 * Runs streams in which the steps of event loops, workers and users occur in thousands of different orders. No stream
 * may hang, no message may be lost, and no resource may be leaked. {@code -Dtern.streams.seeds} sets the number of
 * orders. {@code -Dtern.streams.seed} replays one order and prints its steps.
 */
@Timeout(3_600)
class StreamSimulationTest {

    private static final int SEEDS = Integer.getInteger("tern.streams.seeds", 1_500);

    private static SimulatedSides<SimulatedStream.Service> sides(boolean losesFirstSignal) {
        TripleCodecs codecs = new TripleCodecs(HessianSerializer.builder().build(), null, 0);
        return new SimulatedSides<>(
                SimulatedStream.Service.class,
                new SimulatedStream.Server(),
                new TripleProtocol(codecs),
                new TripleClientProtocol(codecs),
                losesFirstSignal);
    }

    /** Schedules a random event, such as the loss of the connection, after a random number of simulated steps. */
    private static void befallLater(SimulatedSides<?> sides, Simulation simulation) {
        Mishap[] mishaps = Mishap.values();
        Mishap mishap = mishaps[simulation.random().nextInt(mishaps.length)];
        Simulation.User breaker = simulation.user("breaker");
        for (int i = simulation.random().nextInt(60); i > 0; i--) {
            breaker.does(() -> {});
        }
        breaker.does(() -> sides.befall(mishap));
    }

    /** @return the first error; null if there was no error */
    private static @Nullable String run(SimulatedSides<SimulatedStream.Service> sides, long seed, boolean traced) {
        Simulation simulation = new Simulation(seed, traced);
        SimulatedStream.begins(simulation);
        int count = 1 + simulation.random().nextInt(5);
        boolean breaks = simulation.random().nextInt(8) == 0;
        List<SimulatedStream> streams = IntStream.range(0, count)
                .mapToObj(id -> new SimulatedStream(simulation, id, breaks))
                .toList();
        sides.connect(simulation);
        streams.forEach(stream -> stream.begin(sides.proxy()));
        if (breaks) {
            befallLater(sides, simulation);
        }
        String wrong;
        try {
            simulation.run();
            wrong = streams.stream()
                    .map(SimulatedStream::wrong)
                    .filter(Objects::nonNull)
                    .collect(Collectors.joining("\n"));
            if (wrong.isEmpty()) {
                wrong = SimulatedStream.serving();
            }
            if (wrong.isEmpty()) {
                wrong = sides.left();
            }
        } catch (AssertionError e) {
            wrong = e.toString();
        }
        return wrong.isEmpty()
                ? null
                : "-Dtern.streams.seed=" + seed + ": " + wrong + "\n" + streams + "\n" + simulation.trace();
    }

    @Test
    void streamsEndInEveryOrderOfSteps() {
        try (SimulatedSides<SimulatedStream.Service> sides = sides(false)) {
            Long only = Long.getLong("tern.streams.seed");
            if (only != null) {
                assertThat(run(sides, only, true)).isNull();
                return;
            }
            for (long seed = 0; seed < SEEDS; seed++) {
                assertThat(run(sides, seed, false)).isNull();
            }
        }
    }

    @Test
    void orderInWhichASignalCameBeforeItsListenerIsFound() {
        try (SimulatedSides<SimulatedStream.Service> sides = sides(true)) {
            String found = null;
            for (long seed = 0; seed < SEEDS && found == null; seed++) {
                found = run(sides, seed, false);
            }
            System.out.println(found);
            assertThat(found).contains("it hangs");
        }
    }
}
