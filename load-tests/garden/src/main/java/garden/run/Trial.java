package garden.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Injects faults into one running shop application, one after another. Trials in several applications share a lock, so
 * that only one fault is injected at a time. Confined to one thread.
 */
final class Trial {

    private static final int FAULT_SECONDS = 24;
    private static final int AFTER_FIRST_SECONDS = 7;
    private static final int HEALTHY_SECONDS = 22;
    private static final int RECOVERY_SECONDS = 75;
    private static final int QUIET_SECONDS = 4;
    private static final int TRIES = 3;
    private static final Path LOCK = Path.of(System.getProperty("java.io.tmpdir"), "tern-garden.lock");

    private final Garden garden;
    private final @Nullable Path answers;
    private boolean broken;

    Trial(Garden garden, @Nullable Path answers) {
        this.garden = garden;
        this.answers = answers;
    }

    Verdict run(Fault fault) throws Exception {
        try (FileChannel file = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int tries = 0; tries < TRIES; tries++) {
                try (FileLock lock = file.lock()) {
                    if ((lock.isValid() && !garden.misses()) || tries == TRIES - 1) {
                        return runAlone(fault);
                    }
                }
                awaitHealthy(); // Waits until this application has recovered from another trial's fault.
            }
        }
        throw new IllegalStateException("the loop above returns");
    }

    private Verdict runAlone(Fault fault) throws Exception {
        long calls = garden.load().calls();
        long bad = garden.load().bad();
        int warnings = garden.shop().warnings();
        double seconds;
        String text;
        Answer answer;
        try {
            fault.plantInto(garden);
            seconds = fault.healthy() ? awaitAlarm() : awaitCause(bad);
            answer = Answer.of(garden.shop().diagnosis("application/json"));
            text = garden.shop().diagnosis("text/plain");
        } catch (IOException | IllegalStateException e) { // The shop does not respond, so there is no diagnosis.
            seconds = -1;
            answer = Answer.of("{\"state\":\"NO ANSWER\"}");
            text = e.toString();
        }
        long allCalls = garden.load().calls() - calls;
        double share = (garden.load().bad() - bad) / (double) Math.max(1, allCalls);
        boolean alarm = fault.healthy()
                && (answer.misses() || seconds >= 0 || garden.shop().warnings() > warnings);
        Verdict verdict = Verdict.of(fault, answer, share, seconds, alarm);
        write(fault, verdict, text);
        heal();
        return verdict;
    }

    private void heal() throws Exception {
        try {
            garden.heal();
        } catch (IOException e) { // The shop does not respond, so it is restarted.
            broken = true;
        }
    }

    /**
     * Waits until the diagnosis names a first cause. Then waits for a fixed time, so that the diagnosis covers more
     * calls.
     */
    private double awaitCause(long badBefore) throws Exception {
        double seconds = garden.awaitCause(badBefore, FAULT_SECONDS);
        if (seconds >= 0) {
            Thread.sleep(AFTER_FIRST_SECONDS * 1_000L);
        }
        return seconds;
    }

    /**
     * Waits until the diagnosis reports a missed target or the health status is not UP. In a healthy shop, both are
     * alarms.
     *
     * @return the number of seconds until the alarm; -1 if there was no alarm
     */
    private double awaitAlarm() throws Exception {
        long start = System.nanoTime();
        while (Garden.secondsSince(start) < HEALTHY_SECONDS) {
            Thread.sleep(1_000);
            if (garden.misses() || !Answer.status(garden.shop().health()).equals("UP")) {
                return Garden.secondsSince(start);
            }
        }
        return -1;
    }

    /**
     * Waits until the shop application is healthy.
     *
     * @return true if the next fault can be injected; false if the shop must be restarted
     */
    boolean awaitHealthy() throws Exception {
        if (broken) {
            return false;
        }
        long start = System.nanoTime();
        try {
            while (Garden.secondsSince(start) < RECOVERY_SECONDS) {
                long bad = garden.load().bad();
                Thread.sleep(QUIET_SECONDS * 1_000L);
                if (!garden.misses() && garden.load().bad() - bad <= 2) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // The shop application does not respond, so it is not healthy.
        }
        return false;
    }

    private void write(Fault fault, Verdict verdict, String text) throws IOException {
        if (answers == null) {
            return;
        }
        StringBuilder out = new StringBuilder()
                .append(fault.name())
                .append(" on ")
                .append(fault.stand())
                .append(", ")
                .append(LocalTime.now().truncatedTo(ChronoUnit.SECONDS))
                .append("\ninjected ")
                .append(fault.text())
                .append('\n');
        for (Truth truth : fault.truths()) {
            out.append("truth    kind ")
                    .append(truth.kind())
                    .append("\n         place ")
                    .append(truth.place());
            out.append("\n         change ").append(truth.change()).append("\n         never ");
            out.append(truth.forbidden()).append('\n');
        }
        out.append("verdict  ")
                .append(verdict.row())
                .append("\n\n")
                .append(text)
                .append('\n');
        Files.writeString(answers.resolve(fault.name() + ".txt"), out);
        Files.writeString(
                answers.resolve("summary.txt"),
                LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + " " + verdict.row() + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
