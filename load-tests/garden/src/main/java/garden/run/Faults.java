package garden.run;

import garden.shop.OrderService;
import garden.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.springframework.context.ConfigurableApplicationContext;

/** Injects one fault after another, and prints the diagnosis next to the true cause. */
public final class Faults {

    private static final int WARM_UP_SECONDS = 75;
    private static final int USUAL_EXPRESS_MILLIS = 25;

    private final Options options;
    private final Path folder = Path.of("target", "faults");
    private final String commit = System.getProperty("garden.commit", "unknown");

    private boolean passed = true; // This field becomes false if an injected fault was not diagnosed correctly.

    private Faults(Options options) {
        this.options = options;
    }

    public static void main(String... arguments) throws Exception {
        Options options;
        try {
            options = Options.of(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Faults faults = new Faults(options);
        faults.run();
        if (!faults.passed) {
            System.exit(1);
        }
        System.exit(0);
    }

    private void run() throws Exception {
        Files.createDirectories(options.answers());
        try (World world = new World(options.mariaDb())) {
            world.express().usualDelay(USUAL_EXPRESS_MILLIS);
            for (Half half : ServiceLoader.load(Half.class)) {
                if (options.wants(half)) {
                    run(half, world);
                }
            }
        }
    }

    private void run(Half half, World world) throws Exception {
        Path results = Files.createDirectories(folder.resolve(half.name()));
        boolean shown = !half.blind() || options.showBlind();
        for (Stand stand : Stand.values()) {
            List<Fault> faults = new ArrayList<>();
            for (Fault fault : half.faults()) {
                if (fault.stand() == stand && options.wants(fault) && isDue(results, fault)) {
                    faults.add(fault);
                }
            }
            if (faults.isEmpty()) {
                continue;
            }
            if (stand.java25() && !Shop.hasJava25()) {
                System.out.println(stand + " needs JDK 21 or later, at JAVA_25_HOME");
                continue;
            }
            run(faults, stand, world, results, shown);
        }
        if (!options.live()) {
            report(half, results, shown);
        }
    }

    private boolean isDue(Path results, Fault fault) throws IOException {
        return options.fresh() || options.live() || !Verdict.isOf(results.resolve(fault.name()), commit);
    }

    private void run(List<Fault> faults, Stand stand, World world, Path results, boolean shown) throws Exception {
        System.out.println("Stand " + stand + ", " + faults.size() + " to plant; the load runs for " + WARM_UP_SECONDS
                + " s first");
        world.databaseLink().usualDelay(stand == Stand.TIGHT ? 3 : 0);
        int next = 0;
        while (next < faults.size()) {
            world.heal();
            try (Shop shop = new Shop(stand, world.addresses(), folder)) {
                world.machine().shop(shop.pid());
                ConfigurableApplicationContext caller = stand.web() ? null : Caller.start(shop.port("rpc"));
                OrderService orders = caller == null
                        ? new WebOrders(shop.port("web"))
                        : caller.getBean(Caller.class).orders();
                try (Load load = new Load(orders)) {
                    Thread.sleep(WARM_UP_SECONDS * 1_000L);
                    if (options.live()) {
                        passed &= new Live(new Garden(world, shop, load)).show(faults.get(next++));
                        continue;
                    }
                    Trial trial = new Trial(new Garden(world, shop, load), shown ? options.answers() : null);
                    boolean healthy = true;
                    while (healthy && next < faults.size()) {
                        Fault fault = faults.get(next++);
                        Verdict verdict = trial.run(fault);
                        verdict.write(results.resolve(fault.name()), commit);
                        System.out.println(shown ? verdict.row() : "  one of " + faults.size() + " done");
                        healthy = next == faults.size() || trial.awaitHealthy();
                    }
                } finally {
                    if (caller != null) {
                        caller.close();
                    }
                }
            }
        }
    }

    private void report(Half half, Path results, boolean shown) throws IOException {
        List<Verdict> verdicts = new ArrayList<>();
        for (Fault fault : half.faults()) {
            Path file = results.resolve(fault.name());
            if (Verdict.isOf(file, commit)) {
                verdicts.add(Verdict.read(file));
            }
        }
        Totals totals = new Totals(verdicts);
        String text = "Half " + half.name() + ", commit " + commit + "\n" + (shown ? totals.table() + "\n" : "")
                + totals.text();
        System.out.println(text);
        Files.writeString(folder.resolve(half.name() + ".txt"), text);
    }
}
