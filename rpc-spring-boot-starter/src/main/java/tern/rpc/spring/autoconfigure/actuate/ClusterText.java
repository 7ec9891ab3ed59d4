package tern.rpc.spring.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import tern.rpc.cluster.ClusterReport;

/**
 * Formats the report on each reference's providers as text, with one line for the reference's provider list and one
 * line for each provider. If there were retries, hedges or fallbacks, the text has another line with their numbers.
 */
final class ClusterText {

    private static final int MAX_SOURCE = 120;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private ClusterText() {}

    static String of(ClusterPart.Report report) {
        if (report.references().isEmpty()) {
            return "no references\n";
        }
        StringBuilder text = new StringBuilder();
        report.references().forEach(reference -> append(text, reference, report.at()));
        return text.toString();
    }

    private static void append(StringBuilder text, ClusterPart.Reference reference, Instant at) {
        ClusterPart.ProviderList list = reference.list();
        text.append(reference.service()).append('\n').append("  list: ").append(state(list));
        text.append(", ").append(list.listed()).append(" providers of ").append(shortened(list.source()));
        if (list.passedOver() > 0) {
            text.append("; ").append(list.passedOver()).append(" could not be reached and are replaced with others");
        }
        if (list.heldSince() != null) {
            text.append("; ")
                    .append(list.held())
                    .append(" more are kept since ")
                    .append(time(list.heldSince()))
                    .append(" because ")
                    .append(list.heldWhy());
        }
        text.append('\n');
        int width = reference.endpoints().stream()
                .mapToInt(endpoint -> endpoint.address().length())
                .max()
                .orElse(0);
        for (ClusterPart.Endpoint endpoint : reference.endpoints()) {
            text.append(String.format(
                    Locale.ROOT,
                    "  %-" + width + "s  %-11s  %3.0f %% of the calls, score %.2f, %d in flight%s%n",
                    endpoint.address(),
                    endpoint.connection().name().toLowerCase(Locale.ROOT),
                    100 * endpoint.shareOfLastMinute(),
                    endpoint.score(),
                    endpoint.inFlight(),
                    notes(endpoint, at)));
        }
        if (reference.retries() + reference.hedges() + reference.fallbacks() > 0) {
            text.append(String.format(
                    Locale.ROOT,
                    "  since the start: %,d retries, %,d hedges, %,d calls answered by the fallback%n",
                    reference.retries(),
                    reference.hedges(),
                    reference.fallbacks()));
        }
    }

    private static String state(ClusterPart.ProviderList list) {
        String state = switch (list.state()) {
            case UNKNOWN -> "never heard since ";
            case FRESH -> "fresh since ";
            case STALE -> "stale since ";
            case EMPTY -> "empty since ";
        };
        return state + time(list.since()) + (list.why().isEmpty() ? "" : " (" + list.why() + ")");
    }

    private static String notes(ClusterPart.Endpoint endpoint, Instant at) {
        StringBuilder notes = new StringBuilder();
        if (endpoint.connection() == ClusterReport.Link.CONNECTED && !endpoint.heard()) {
            notes.append("; its server has sent nothing yet");
        }
        if (endpoint.stalledSince() != null) {
            notes.append("; silent since ").append(time(endpoint.stalledSince()));
        }
        if (endpoint.ejectedUntil() != null) {
            notes.append("; avoided until ")
                    .append(time(endpoint.ejectedUntil()))
                    .append(": ")
                    .append(endpoint.ejectedWhy());
        }
        if (!endpoint.lastFailure().isEmpty()) {
            notes.append("; ").append(endpoint.lastFailure());
        }
        if (endpoint.nextAttempt() != null) {
            long millis = Duration.between(at, endpoint.nextAttempt()).toMillis();
            notes.append(String.format(Locale.ROOT, "; next attempt in %.1f s", millis / 1e3));
        }
        if (endpoint.held()) {
            notes.append("; not in the list any more");
        }
        if (endpoint.draining()) {
            notes.append("; about to stop");
        }
        return notes.toString();
    }

    private static String shortened(String source) {
        return source.length() <= MAX_SOURCE ? source : source.substring(0, MAX_SOURCE) + "…";
    }

    private static String time(Instant instant) {
        return TIME.format(instant.atZone(ZoneId.systemDefault()));
    }
}
