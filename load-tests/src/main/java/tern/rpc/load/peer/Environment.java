package tern.rpc.load.peer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.load.replay.Facts;

/**
 * What has to stand beside the figures.
 *
 * @param machine as it was at the start, load average included
 * @param commit that was measured, as far as it can be told
 */
record Environment(Map<String, String> machine, String commit) {

    Environment {
        machine = Collections.unmodifiableMap(new LinkedHashMap<>(machine)); // in its order
    }

    static Environment now() {
        return new Environment(Facts.ofMachine(), described());
    }

    /** To be called at the end, since the load average is looked at again. */
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
            String told = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0 ? told : "unknown";
        } catch (IOException e) {
            return "unknown"; // there is no git here
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "unknown";
        }
    }
}
