package tern.rpc.load.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares Tern with other frameworks. Each round starts new processes for each framework with the same flags, warms
 * them up with few callers, and then runs every scenario. In every second round, the frameworks run in reverse order.
 * The main result is the CPU time that client and server together use per call. Prints a table and writes an HTML page.
 * If a framework fails, its row contains the reason.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.peer.PeerComparison --help</pre>
 */
public final class PeerComparison {

    /**
     * The minimum duration of the warm-up of each scenario. After a shorter warm-up, the measurement would include the
     * work of the JIT compiler.
     */
    private static final int MIN_TRAINING_MILLIS = 2_000;

    private final Selection selection;
    private final Results results;

    private PeerComparison(Selection selection) {
        this.selection = selection;
        this.results = new Results(selection.peers(), selection.scenes());
    }

    public static void main(String[] options) throws IOException {
        if (Arrays.asList(options).contains("--help")) {
            System.out.print(Selection.HELP);
            return;
        }
        Selection selection;
        try {
            selection = Selection.of(options);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Environment environment = Environment.now();
        PeerComparison comparison = new PeerComparison(selection);
        comparison.run();
        Map<String, String> facts = environment.facts(selection);
        facts.forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.print(ResultTable.text(comparison.results));
        Path report = selection.report().toAbsolutePath();
        if (report.getParent() != null) {
            Files.createDirectories(report.getParent());
        }
        Files.writeString(report, new ReportPage(comparison.results, facts).html());
        System.out.println("page: " + report);
    }

    private void run() {
        for (int round = 0; round < selection.rounds(); round++) {
            List<String> order = new ArrayList<>(selection.peers());
            if (round % 2 == 1) {
                Collections.reverse(order);
            }
            for (String peer : order) {
                System.err.println("round " + (round + 1) + " of " + selection.rounds() + ": " + peer);
                byPairs(selection.scenes()).forEach((pairs, scenes) -> measure(peer, pairs, scenes));
            }
        }
    }

    private static Map<Integer, List<Scene>> byPairs(List<Scene> scenes) {
        Map<Integer, List<Scene>> groups = new LinkedHashMap<>();
        scenes.forEach(scene -> groups.computeIfAbsent(scene.pairs(), added -> new ArrayList<>())
                .add(scene));
        return groups;
    }

    private void measure(String peer, int pairs, List<Scene> scenes) {
        List<Scene> missing = new ArrayList<>(scenes);
        if (!Peer.STREAMING.contains(peer)) {
            List<Scene> streams = scenes.stream().filter(Scene::streams).toList();
            results.failed(peer, streams, "has no streams here");
            missing.removeAll(streams);
        }
        if (missing.isEmpty()) {
            return;
        }
        try (Trial trial = new Trial(peer, pairs)) {
            int training = Math.max(MIN_TRAINING_MILLIS, selection.millis());
            trial.run(List.copyOf(missing), training, selection.millis(), (scene, round) -> {
                results.add(peer, scene, round);
                missing.remove(scene);
            });
        } catch (IOException e) {
            System.err.println(peer + ": " + e.getMessage());
            results.failed(peer, missing, String.valueOf(e.getMessage()));
        }
    }
}
