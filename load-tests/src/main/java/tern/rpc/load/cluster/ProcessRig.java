package tern.rpc.load.cluster;

import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tern.rpc.load.sample.Program;
import tern.rpc.netty.EventLoops;

/**
 * Runs three sample providers as processes, and one consumer for each protocol in this process. Causes one fault after
 * another while the consumers make calls at a steady rate. A fault affects the first provider, or all providers in
 * turn. Prints the lost calls over each protocol.
 */
public final class ProcessRig {

    private static final int WARM_UP_SECONDS = 6;
    private static final int QUIET_SECONDS = 8;
    private static final int AFTER_SECONDS = 5;
    private static final int BACK_SECONDS = 60;

    private final List<Provider> providers;
    private final FaultyRelay relay;
    private final EventLoops loops;
    private final int rate;
    private final int seconds;

    private ProcessRig(List<Provider> providers, FaultyRelay relay, EventLoops loops, int rate, int seconds) {
        this.providers = providers;
        this.relay = relay;
        this.loops = loops;
        this.rate = rate;
        this.seconds = seconds;
    }

    /**
     * @param arguments {@code --jar=} the provider's jar, {@code --work=} a folder for logs, {@code --rate=} the calls
     *     per second on each protocol, {@code --seconds=} the duration of a fault, {@code --faults=} names separated by
     *     commas
     */
    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        Path work = Files.createDirectories(Path.of(options.text("work", "target/cluster")));
        List<ProcessFault> faults = Stream.of(options.text("faults", "").split(","))
                .filter(name -> !name.isEmpty())
                .map(name -> ProcessFault.valueOf(name.toUpperCase(Locale.ROOT)))
                .toList();
        List<Provider> providers = new ArrayList<>();
        EventLoopGroup relayLoop = FaultyRelay.loop();
        try (EventLoops loops = EventLoops.start(2)) {
            for (int i = 1; i <= 3; i++) {
                Path jar = Path.of(options.text("jar", "sample-provider/target/sample-provider.jar"));
                providers.add(Provider.start("provider-" + i, jar, work, Program.freePort()));
                // The providers start one after another, because a simultaneous start takes longer on a machine with
                // few processors.
                providers.get(i - 1).awaitReady();
            }
            try (FaultyRelay relay = new FaultyRelay(
                    relayLoop,
                    InetAddress.getLoopbackAddress(),
                    providers.get(0).port())) {
                new ProcessRig(providers, relay, loops, options.number("rate", 200), options.number("seconds", 20))
                        .run(faults.isEmpty() ? Arrays.asList(ProcessFault.values()) : faults);
            }
        } finally {
            providers.forEach(Provider::close);
            relayLoop.shutdownGracefully();
        }
        System.exit(0);
    }

    private void run(List<ProcessFault> faults) throws IOException, InterruptedException {
        System.out.printf(
                Locale.ROOT,
                "%d calls a second on each protocol, every second one idempotent; faults of %d s unless named"
                        + " otherwise%n%n",
                rate,
                seconds);
        System.out.println("| fault | protocol | calls | lost idempotent | lost others | p99 quiet ms | p99 fault ms"
                + " | share of the faulty % | back after s |");
        System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for (ProcessFault fault : faults) {
            run(fault);
        }
    }

    private void run(ProcessFault fault) throws IOException, InterruptedException {
        List<Integer> ports =
                new ArrayList<>(providers.stream().map(Provider::port).toList());
        if (fault.isRelayed()) {
            ports.set(0, relay.port());
        }
        Map<Wire, SteadyCalls> running = new EnumMap<>(Wire.class);
        try {
            for (Wire wire : Wire.values()) {
                running.put(wire, new SteadyCalls(wire.connect(loops, ports), rate, wire.protocol()));
            }
            TimeUnit.SECONDS.sleep(WARM_UP_SECONDS);
            next(running);
            TimeUnit.SECONDS.sleep(QUIET_SECONDS);
            Map<Wire, long[]> before = served();
            Map<Wire, SteadyCalls.Counts> quiet = next(running);
            fault.run(providers, relay, seconds);
            Map<Wire, long[]> after = served();
            Map<Wire, Double> back = awaitBack(after);
            TimeUnit.SECONDS.sleep(AFTER_SECONDS);
            Map<Wire, SteadyCalls.Counts> during = next(running);
            // A call belongs to the part of the run in which it started, so the counts of a part are complete only when
            // all calls of this part have ended.
            closeAll(running);
            for (Wire wire : Wire.values()) {
                print(
                        fault,
                        wire,
                        of(quiet, wire),
                        of(during, wire),
                        share(of(before, wire), of(after, wire)),
                        of(back, wire));
            }
        } finally {
            closeAll(running);
        }
    }

    private static <T> T of(Map<Wire, T> values, Wire wire) {
        return Objects.requireNonNull(values.get(wire));
    }

    private static void closeAll(Map<Wire, SteadyCalls> running) throws InterruptedException {
        for (SteadyCalls calls : running.values()) {
            calls.close();
        }
        running.clear();
    }

    private static Map<Wire, SteadyCalls.Counts> next(Map<Wire, SteadyCalls> running) {
        Map<Wire, SteadyCalls.Counts> parts = new EnumMap<>(Wire.class);
        running.forEach((wire, calls) -> parts.put(wire, calls.next()));
        return parts;
    }

    private Map<Wire, long[]> served() throws InterruptedException {
        Map<Wire, long[]> all = new EnumMap<>(Wire.class);
        for (Wire wire : Wire.values()) {
            long[] counts = new long[providers.size()];
            for (int i = 0; i < counts.length; i++) {
                counts[i] = Math.max(0, providers.get(i).served(wire));
            }
            all.put(wire, counts);
        }
        return all;
    }

    /**
     * Returns the first provider's share of the calls between two readings of the counts. The counts of a restarted
     * provider start at zero.
     */
    private static double share(long[] before, long[] after) {
        long all = 0;
        long first = 0;
        for (int i = 0; i < before.length; i++) {
            long calls = after[i] >= before[i] ? after[i] - before[i] : after[i];
            all += calls;
            first += i == 0 ? calls : 0;
        }
        return all == 0 ? 0 : 100.0 * first / all;
    }

    /**
     * Waits until the faulty provider serves calls again. Returns the elapsed seconds, or infinity if the time limit
     * passes first.
     */
    private Map<Wire, Double> awaitBack(Map<Wire, long[]> after) throws InterruptedException {
        long began = System.nanoTime();
        Map<Wire, Double> back = new EnumMap<>(Wire.class);
        while (back.size() < Wire.values().length) {
            double waited = (System.nanoTime() - began) / 1e9;
            for (Wire wire : Wire.values()) {
                if (!back.containsKey(wire)
                        && (waited > BACK_SECONDS || providers.get(0).served(wire) > of(after, wire)[0])) {
                    back.put(wire, waited > BACK_SECONDS ? Double.POSITIVE_INFINITY : waited);
                }
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        return back;
    }

    private static void print(
            ProcessFault fault,
            Wire wire,
            SteadyCalls.Counts quiet,
            SteadyCalls.Counts during,
            double share,
            double back) {
        System.out.printf(
                Locale.ROOT,
                "| %s | `%s` | %,d | %d | %d | %.1f | %.1f | %.1f | %.1f |%n",
                fault.label(),
                wire.protocol(),
                during.calls(),
                during.lostSafe(),
                during.lostOnce(),
                quiet.p99Millis(),
                during.p99Millis(),
                share,
                back);
        if (!during.firstFailure().isEmpty()) {
            System.err.println("  first failure on " + wire.protocol() + ": " + during.firstFailure());
        }
    }
}
