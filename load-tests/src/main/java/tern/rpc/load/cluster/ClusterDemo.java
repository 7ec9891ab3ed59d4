package tern.rpc.load.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.load.sample.Program;

/**
 * The program behind {@code ./demo --cluster}. Runs three sample providers with a ZooKeeper server, and a consumer that
 * calls them at a steady rate. The providers are restarted one after another, then one is frozen and one is killed.
 * Prints PASS if only calls in flight at the killed provider were lost.
 */
public final class ClusterDemo {

    private static final int PROVIDERS = 3;
    private static final int QUIET_SECONDS = 4;
    private static final int FROZEN_SECONDS = 5;
    private static final int AFTER_SECONDS = 5;
    private static final int BACK_SECONDS = 60;
    private static final int END_SECONDS = 30;

    /** The exit code for a demo that could not run. */
    private static final int NOT_RUN = 2;

    private final List<Provider> providers = new ArrayList<>();
    private final Path work;

    private ClusterDemo(Path work) {
        this.work = work;
    }

    /**
     * @param arguments {@code --jar=} the provider's jar, {@code --work=} a folder for logs, {@code --rate=} the calls
     *     per second
     */
    public static void main(String[] arguments) throws InterruptedException {
        Options options = new Options(arguments);
        try {
            Path work = Files.createDirectories(Path.of(options.text("work", "target/demo/cluster")));
            Path jar = Path.of(options.text("jar", "sample-provider/target/sample-provider.jar"));
            System.exit(new ClusterDemo(work).run(jar, options.number("rate", 300)) ? 0 : 1);
        } catch (IOException e) {
            System.err.println("demo: " + e.getMessage());
            System.exit(NOT_RUN);
        }
    }

    private boolean run(Path jar, int rate) throws IOException, InterruptedException {
        try (EmbeddedZooKeeper zooKeeper = EmbeddedZooKeeper.start(work.resolve("zookeeper"))) {
            try {
                say("ZooKeeper runs at " + zooKeeper.url() + ". Starting three providers ...");
                for (int i = 1; i <= PROVIDERS; i++) {
                    providers.add(Provider.start(
                            "provider-" + i,
                            jar,
                            work,
                            Program.freePort(),
                            "--rpc.server.registry=" + zooKeeper.url()));
                }
                for (Provider provider : providers) {
                    provider.awaitReady();
                }
                return judge(zooKeeper.url(), rate);
            } finally {
                providers.parallelStream().forEach(Provider::close);
            }
        }
    }

    private boolean judge(String registry, int rate) throws IOException, InterruptedException {
        Map<Integer, String> names = new LinkedHashMap<>();
        providers.forEach(provider -> names.put(provider.port(), provider.name()));
        DemoReport report = new DemoReport(names, ClusterDemo::say);
        say("Starting the consumer: " + rate + " calls a second, every second one idempotent. Logs are in " + work
                + ".");
        say(report.head());
        try (Program consumer = startConsumer(registry, rate, report)) {
            DemoVerdict.Kill kill;
            try {
                for (Provider provider : providers) {
                    awaitServing(report, provider, "the start of the consumer");
                }
                kill = runFaults(report);
            } catch (NotServing e) {
                say("FAIL: " + e.getMessage());
                return false;
            }
            consumer.endInput();
            if (!report.awaitEnd(END_SECONDS)) {
                throw new IOException("the consumer did not end; its log is " + work.resolve("consumer.log"));
            }
            return print(report.verdict(kill), report);
        }
    }

    private Program startConsumer(String registry, int rate, DemoReport report) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Dlogback.configurationFile=tern/rpc/load/cluster/logging.xml",
                "-cp",
                System.getProperty("java.class.path"),
                DemoConsumer.class.getName(),
                "--registry=" + registry,
                "--rate=" + rate);
        return Program.startRead("consumer", work.resolve("consumer.log"), command, report);
    }

    /** Thrown when a provider has not received calls within the time limit. */
    private static final class NotServing extends Exception {

        private static final long serialVersionUID = 1;

        NotServing(String message) {
            super(message);
        }
    }

    private static void awaitServing(DemoReport report, Provider provider, String since)
            throws InterruptedException, NotServing {
        if (!report.awaitServing(provider.port(), BACK_SECONDS)) {
            throw new NotServing(provider.name() + " had no calls within " + BACK_SECONDS + " s after " + since);
        }
    }

    private DemoVerdict.Kill runFaults(DemoReport report) throws IOException, InterruptedException, NotServing {
        TimeUnit.SECONDS.sleep(QUIET_SECONDS);
        for (Provider provider : providers) {
            event("restart of " + provider.name());
            provider.restart();
            report.forget(provider.port());
            awaitServing(report, provider, "its restart");
        }

        Provider frozen = providers.get(1);
        event("SIGSTOP freezes " + frozen.name());
        frozen.signal("STOP");
        TimeUnit.SECONDS.sleep(FROZEN_SECONDS);
        event("SIGCONT resumes " + frozen.name());
        frozen.signal("CONT");
        report.forget(frozen.port());
        awaitServing(report, frozen, "SIGCONT");

        Provider killed = providers.get(PROVIDERS - 1);
        event("SIGKILL ends " + killed.name());
        long sentMillis = System.currentTimeMillis();
        killed.kill();
        long goneMillis = System.currentTimeMillis();
        TimeUnit.SECONDS.sleep(AFTER_SECONDS);
        return new DemoVerdict.Kill(killed.port(), sentMillis, goneMillis);
    }

    private static boolean print(DemoVerdict verdict, DemoReport report) {
        say("");
        say(String.format(
                Locale.ROOT,
                "%,d calls in %d s. Lost in flight at the kill: %d. Lost otherwise: %s.",
                report.calls(),
                report.seconds(),
                verdict.inFlight().size(),
                verdict.passed() ? "none" : "see below"));
        verdict.inFlight().forEach(call -> say("  in flight at the kill: " + call.reason()));
        if (verdict.passed()) {
            say("PASS: only calls in flight at the killed provider were lost.");
        } else {
            say("FAIL: " + String.join("\n      ", verdict.reasons()));
        }
        return verdict.passed();
    }

    private static void event(String text) {
        say("       --- " + text);
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
