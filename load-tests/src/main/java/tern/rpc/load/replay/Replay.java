package tern.rpc.load.replay;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Replays the tuning of a service from 140 to 600 calls per second (docs/replay.md). For each configuration error and
 * its fix, this program searches for the highest rate at which 99 % of the calls end within 100 ms and no call fails.
 * Then it raises the rate further and reads the provider's diagnosis. Run it in the project's folder after {@code
 * ./mvnw package -DskipTests}:
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.replay.Replay [--rounds=1,2,…] [--seconds=6]
 * [--stores=embedded]</pre>
 *
 * <p>Exits with 1 if the first cause in a diagnosis was not the configuration error, or if a fix made little
 * difference. The results are in {@code target/replay/}.
 */
public final class Replay {

    private static final Path FOLDER = Path.of("target", "replay");
    private static final Duration DELAY = Duration.ofMillis(1);
    private static final List<Double> TRAINING_RATES = List.of(50.0, 200.0);
    private static final double FIRST_RATE = 200;
    private static final double MAX_RATE = 1_000;
    private static final int STEPS = 8;
    private static final int TRIES_BEYOND = 3;
    private static final int FAIR_LOCK_ROUND = 4;

    private final Stores stores;
    private final DelayingProxy redis;
    private final DelayingProxy sql;
    private final int seconds;
    private final PrintStream out = System.out;

    private Replay(Stores stores, DelayingProxy redis, DelayingProxy sql, int seconds) {
        this.stores = stores;
        this.redis = redis;
        this.sql = sql;
        this.seconds = seconds;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Arguments wanted = Arguments.of(arguments);
        Files.createDirectories(FOLDER);
        boolean right;
        try (Stores stores = Stores.start(FOLDER, wanted.embedded());
                DelayingProxy redis = new DelayingProxy(stores.redisPort(), DELAY);
                DelayingProxy sql = new DelayingProxy(stores.mariaDbPort(), DELAY)) {
            right = new Replay(stores, redis, sql, wanted.seconds()).run(wanted);
        }
        System.exit(right ? 0 : 1);
    }

    private boolean run(Arguments wanted) throws IOException, InterruptedException {
        Map<String, String> facts = Facts.ofMachine();
        facts.put("stores", stores.description());
        facts.put("loads", seconds + " s each after 2 s of warm-up; JVM flags as in ./demo");
        facts.forEach((name, value) -> out.println(name + ": " + value));
        List<Result> results = new ArrayList<>();
        for (Round round : Round.ALL) {
            if (wanted.rounds().contains(round.number())) {
                results.add(measure(round, false));
                if (!round.fix().isEmpty()) {
                    results.add(measure(round, true));
                }
            }
        }
        if (wanted.rounds().contains(FAIR_LOCK_ROUND)) {
            facts.put("Druid's lock alone, 400 threads at 50 connections, fair", LockPrice.of(false));
            facts.put("the same, unfair", LockPrice.of(true));
        }
        facts.put("delay of Redis, wanted 1 ms", redis.delays());
        facts.put("delay of SQL, wanted 1 ms", sql.delays());
        facts.put("load average at the end", Facts.loadAverage());
        return report(results, facts);
    }

    private boolean report(List<Result> results, Map<String, String> facts) throws IOException {
        List<String> verdicts = Verdicts.of(results);
        String table = ReplayTable.markdown(results);
        out.println();
        out.println(table);
        facts.forEach((name, value) -> out.println(name + ": " + value));
        verdicts.forEach(out::println);
        Files.writeString(FOLDER.resolve("replay.md"), table);
        Files.writeString(FOLDER.resolve("replay.csv"), ReplayTable.csv(results));
        Files.writeString(FOLDER.resolve("replay.html"), new ReplayPage(results, facts, verdicts).html());
        out.println("Written to " + FOLDER + ": replay.md, replay.csv, replay.html");
        return verdicts.stream().noneMatch(Verdicts::isBad);
    }

    private Result measure(Round round, boolean fixed) throws IOException, InterruptedException {
        String name = round.profile() + (fixed ? "-fixed" : "");
        out.printf("%nRound %d, %s%n", round.number(), round.setting(fixed));
        try (Samples samples = Samples.start(FOLDER, name, round.slowLog(), settings(round, fixed), seconds)) {
            for (double rate : TRAINING_RATES) {
                samples.drive(rate);
            }
            KneeSearch search = new KneeSearch(FIRST_RATE, MAX_RATE, STEPS);
            Map<Double, Step> held = new TreeMap<>();
            List<Step> steps = new ArrayList<>();
            while (!search.isDone()) {
                Step step = samples.drive(search.next());
                print(step);
                steps.add(step);
                search.record(step.outcome());
                if (step.outcome() == KneeSearch.Outcome.HELD) {
                    held.put(step.rate(), step);
                }
            }
            @Nullable Step knee = held.get(search.knee());
            Samples.Asked asked = askBeyond(samples, search.beyond());
            for (int i = 1; i < TRIES_BEYOND && asked.step().outcome() == KneeSearch.Outcome.HELD; i++) {
                // A rate above the knee met the target, so an earlier miss at a lower rate was caused by the machine.
                knee = asked.step();
                steps.add(knee);
                asked = askBeyond(samples, Math.rint(knee.rate() * KneeSearch.BEYOND));
            }
            out.println("  Tern: " + asked.answer().first());
            return new Result(round, fixed, steps, knee, asked.step(), asked.answer());
        }
    }

    private Samples.Asked askBeyond(Samples samples, double rate) throws IOException, InterruptedException {
        Samples.Asked asked = samples.driveAndAsk(rate);
        print(asked.step());
        return asked;
    }

    private List<String> settings(Round round, boolean fixed) {
        List<String> settings = new ArrayList<>();
        settings.add("spring.profiles.active=" + round.profile());
        settings.add("spring.data.redis.url=redis://127.0.0.1:"
                + (round.redisDelayed() ? redis.port() : stores.redisPort()));
        if (stores.hasMariaDb()) {
            settings.add("spring.datasource.url=jdbc:mariadb://127.0.0.1:"
                    + (round.sqlDelayed() ? sql.port() : stores.mariaDbPort())
                    + "/sample?createDatabaseIfNotExist=true");
            settings.add("spring.datasource.username=root");
            settings.add("spring.datasource.password=");
        }
        if (fixed) {
            settings.addAll(round.fix());
        }
        return settings;
    }

    private void print(Step step) {
        out.printf(
                Locale.ROOT,
                "  %5.0f/s: %6.1f QPS, p50 %7.1f ms, p99 %7.1f ms, max %7.1f ms, %d errors %s, provider %.1f"
                        + " processors, machine %.0f %%%s%n",
                step.rate(),
                step.qps(),
                step.p50Millis(),
                step.p99Millis(),
                step.maxMillis(),
                step.errors(),
                step.firstError(),
                step.providerCores(),
                step.machine() * 100,
                step.outcome() == KneeSearch.Outcome.HELD ? "  held" : "");
    }
}
