package tern.rpc.spring.autoconfigure.insight;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.diagnosis.History;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Recorded;
import tern.rpc.metrics.RpcReportPart;

/** Reports the current diagnosis, earlier diagnoses and measured values. docs/diagnosis.md describes the JSON form. */
record DiagnosisPart(Diagnostician diagnostician) implements RpcReportPart {

    /** The version of the JSON report. The version increases when a member is removed or changes its meaning. */
    private static final int VERSION = 1;

    private static final int SHOWN_EPISODES = 5;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    /**
     * The content of the JSON report.
     *
     * @param checked the expected and the measured effect of the most recent change of a property; empty if there was
     *     none
     * @param recorded the last flight recording; null if there was none
     * @param history the causes of missed latency targets within 24 hours, oldest first
     * @param seconds the values of the last ten minutes, oldest first
     * @param minutes the values of the last 24 hours, oldest first
     */
    record Report(
            int version,
            Diagnosis.State state,
            String text,
            Diagnosis.@Nullable Miss miss,
            List<Cause> causes,
            Map<String, Double> accountMs,
            double unexplainedMs,
            List<String> missing,
            List<String> refusedOrFailed,
            String checked,
            @Nullable Recorded recorded,
            List<History.Episode> history,
            List<History.Figures> seconds,
            List<History.Figures> minutes) {}

    @Override
    public String name() {
        return "diagnosis";
    }

    @Override
    public Report report() {
        Diagnosis now = diagnostician.diagnosis();
        History history = diagnostician.history();
        return new Report(
                VERSION,
                now.state(),
                now.text(),
                now.miss(),
                now.causes(),
                now.accountMs(),
                now.unexplainedMs(),
                now.missing(),
                now.refusedOrFailed(),
                diagnostician.checkedChange().strip(),
                diagnostician.recorded(),
                history.episodes(),
                history.seconds(),
                history.minutes());
    }

    /**
     * Returns the current diagnosis, followed by one line for each of the most recent causes of missed latency targets.
     */
    @Override
    public String text() {
        Diagnosis now = diagnostician.diagnosis();
        StringBuilder text = new StringBuilder(now.text()).append(diagnostician.checkedChange());
        Recorded recorded = diagnostician.recordedNow();
        if (recorded != null) {
            text.append(String.format(Locale.ROOT, "recorded %s for %d s%n", time(recorded.at()), recorded.seconds()));
            recorded.lines().forEach(line -> text.append("  ").append(line).append('\n'));
        }
        for (History.Episode episode : diagnostician.history().before(now, SHOWN_EPISODES)) {
            text.append(String.format(
                    Locale.ROOT,
                    "before   %s to %s %s: %s%n",
                    time(episode.from()),
                    time(episode.until()),
                    episode.methods().isEmpty() ? "" : episode.methods().get(0),
                    episode.first()));
        }
        return text.toString();
    }

    /** Starts a flight recording. */
    @Override
    public Boolean act() {
        return diagnostician.record();
    }

    private static String time(Instant instant) {
        return TIME.format(instant.atZone(ZoneId.systemDefault()));
    }
}
