package garden.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;

/**
 * Compares the diagnosis of a fault with the fault's true cause.
 *
 * @param bad the share of calls that were late or failed while the fault was injected
 * @param seconds the number of seconds between the first late or failed calls and the first cause; -1 if there was no
 *     cause
 * @param alarm whether a healthy situation caused an alarm: a reported miss of the target, a health status other than
 *     UP, or a logged warning
 */
record Verdict(
        String name,
        boolean healthy,
        double bad,
        double seconds,
        boolean first,
        boolean named,
        boolean right,
        boolean harmful,
        boolean alarm,
        String cause,
        String change) {

    private static final double EFFECT = 0.04;

    static Verdict of(Fault fault, Answer answer, double bad, double seconds, boolean alarm) {
        List<Answer.Found> causes = answer.causes();
        Answer.Found top = causes.isEmpty() ? new Answer.Found(answer.state(), "", "") : causes.get(0);
        List<Truth> truths = fault.truths();
        boolean harmful = truths.stream().anyMatch(truth -> truth.isHarmedBy(top));
        return new Verdict(
                fault.name(),
                fault.healthy(),
                bad,
                seconds,
                truths.stream().anyMatch(truth -> truth.isNamedBy(top)),
                !truths.isEmpty()
                        && truths.stream().allMatch(truth -> causes.stream().anyMatch(cause -> truth.isNamedBy(cause))),
                truths.stream().anyMatch(truth -> truth.isNamedBy(top) && truth.isChangedBy(top)),
                // In a pair of faults, the right change for one fault can be listed as harmful for the second fault.
                harmful && truths.stream().noneMatch(truth -> truth.isNamedBy(top) && truth.isChangedBy(top)),
                alarm,
                top.title(),
                top.change());
    }

    /**
     * Returns whether the run is valid. A fault must make calls miss their target, and a healthy situation must not.
     */
    boolean valid() {
        return healthy ? bad < EFFECT : bad >= EFFECT;
    }

    String row() {
        if (healthy) {
            return String.format(
                    Locale.ROOT,
                    "| %s | %s | %.0f %% | %s |",
                    name,
                    alarm ? "ALARM" : "quiet",
                    100 * bad,
                    alarm ? cause : "");
        }
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s | %s | %.0f %% | %s |",
                name,
                cause,
                first ? "yes" : "no",
                named ? "yes" : "no",
                right ? "yes" : "no",
                seconds < 0 ? "-" : String.format(Locale.ROOT, "%.0f s", seconds),
                harmful ? "HARMFUL" : "",
                100 * bad,
                change.replace('\n', ' ').replace('|', '/'));
    }

    void write(Path file, String commit) throws IOException {
        Properties values = new Properties();
        values.setProperty("commit", commit);
        values.setProperty("name", name);
        values.setProperty("healthy", String.valueOf(healthy));
        values.setProperty("bad", String.valueOf(bad));
        values.setProperty("seconds", String.valueOf(seconds));
        values.setProperty("first", String.valueOf(first));
        values.setProperty("named", String.valueOf(named));
        values.setProperty("right", String.valueOf(right));
        values.setProperty("harmful", String.valueOf(harmful));
        values.setProperty("alarm", String.valueOf(alarm));
        values.setProperty("cause", cause);
        values.setProperty("change", change);
        try (var out = Files.newBufferedWriter(file)) {
            values.store(out, null);
        }
    }

    static Verdict read(Path file) throws IOException {
        Properties values = load(file);
        return new Verdict(
                values.getProperty("name"),
                is(values, "healthy"),
                Double.parseDouble(values.getProperty("bad")),
                Double.parseDouble(values.getProperty("seconds")),
                is(values, "first"),
                is(values, "named"),
                is(values, "right"),
                is(values, "harmful"),
                is(values, "alarm"),
                values.getProperty("cause"),
                values.getProperty("change"));
    }

    /** Returns whether the verdict in the file was made with the given commit of the project. */
    static boolean isOf(Path file, String commit) throws IOException {
        return Files.exists(file) && commit.equals(load(file).getProperty("commit"));
    }

    private static Properties load(Path file) throws IOException {
        Properties values = new Properties();
        try (var in = Files.newBufferedReader(file)) {
            values.load(in);
        }
        return values;
    }

    private static boolean is(Properties values, String name) {
        return Boolean.parseBoolean(values.getProperty(name));
    }
}
