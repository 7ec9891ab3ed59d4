package tern.rpc.load.peer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.load.replay.Facts;

/**
 * The facts about the environment that are printed with the results.
 *
 * @param machine the facts about the machine at the start, including its load average
 * @param commit the measured commit, or {@code unknown}
 */
record Environment(Map<String, String> machine, String commit) {

    Environment {
        // A LinkedHashMap keeps the order in which the facts are printed.
        machine = Collections.unmodifiableMap(new LinkedHashMap<>(machine));
    }

    static Environment now() {
        return new Environment(Facts.ofMachine(), described());
    }

    /** Returns all facts. Must be called at the end of the run, because it reads the load average again. */
    Map<String, String> facts(Selection selection) {
        Map<String, String> facts = new LinkedHashMap<>(machine);
        facts.put("load average at the end", Facts.loadAverage());
        facts.put("flags of each process", String.join(" ", Side.FLAGS));
        facts.put("rounds", selection.rounds() + " of " + selection.millis() + " ms a scene");
        facts.put("commit", commit);
        return facts;
    }

    private static String described() {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0 ? output : "unknown";
        } catch (IOException e) {
            return "unknown"; // Git is not installed, so the commit is unknown.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "unknown";
        }
    }
}
