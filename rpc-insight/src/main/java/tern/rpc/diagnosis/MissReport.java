package tern.rpc.diagnosis;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.text.CauseText;

/**
 * Publishes the diagnoses of a miss, that is, of a period in which calls miss the latency target. Logs each miss once
 * when it begins and once when it ends. If the first cause changes and the new first cause remains first for several
 * seconds, logs the new first cause as well, but at most once a minute. A diagnosis with a new first cause is published
 * only if this cause was first in two of the last three seconds and calls are not recovering. Not thread-safe: only one
 * thread uses it.
 */
final class MissReport {

    private static final Logger LOG = LoggerFactory.getLogger(Diagnostician.class);
    private static final double P99 = 0.99;
    private static final int VOTES = 3;
    private static final int MAX_UNTOLD_SECONDS = 4;

    /**
     * Late calls without a known cause are logged only after {@value} seconds. In the first seconds, there are too few
     * samples to find a cause.
     */
    private static final int MAX_UNEXPLAINED_SECONDS = 8;

    /** A new first cause is logged once it has been first for {@value} consecutive seconds. */
    private static final int LASTING_SECONDS = 10;

    private static final int MIN_SECONDS_BETWEEN_LINES = 60;

    /**
     * The published first cause remains first as long as it takes at least {@value} of the time that the most expensive
     * cause takes.
     */
    private static final double SIMILAR = 0.67;

    /**
     * The kinds of causes that are waits within this process. Such a wait is often a consequence of another cause, and
     * grows as long as this cause lasts.
     */
    private static final Set<String> WAITS = Set.of(
            "CONNECTIONS OPEN SLOWLY",
            "WAIT AT POOL",
            "POOL TOO SMALL",
            "NO FREE WORKER",
            "WAITS FOR A RESULT",
            "EXECUTOR TOO SMALL",
            "EXECUTOR FULL",
            "LIMIT",
            "LOCK");

    /**
     * A wait within this process replaces a published first cause of another kind only if the published cause takes
     * less than {@value} of the wait's time. This rule applies after the published cause has been in first place for
     * {@link #SETTLED_SECONDS} seconds.
     */
    private static final double OF_WAIT = 0.3;

    private static final int SETTLED_SECONDS = 5;

    private final History history;
    private final Executor log;
    private final Deque<String> firsts = new ArrayDeque<>(); // the first cause diagnosed in each of the last seconds
    private @Nullable Diagnosis published; // the last published diagnosis; null while calls meet the target
    private @Nullable String loggedTitle; // the last logged first cause; null while calls meet the target
    private int secondsSinceLine;
    private boolean logs; // whether the current period of late calls may be logged
    private @Nullable String first; // the first cause in the last published diagnosis
    private int firstSeconds; // the number of consecutive seconds with the same published first cause
    private int seconds;
    private int publishedSeconds; // the number of consecutive diagnoses with the same published first cause

    /** @param log writes log lines, usually on another thread */
    MissReport(History history, Executor log) {
        this.history = history;
        this.log = log;
    }

    /** The start of a period in which calls miss the latency target, and the missed target. */
    record Begun(Instant since, long seconds, double targetMs, double usualP99Ms) {}

    /**
     * Records the diagnosis of the last second, and decides which diagnosis to publish.
     *
     * @param isDeclining whether the cause of the late calls has probably ended, so that the first cause must not
     *     change
     * @param mayWarn whether the application has served calls for long enough to log a warning
     * @return the diagnosis to publish
     */
    Diagnosis add(
            Begun begun,
            Evidence.Counts counts,
            List<EndedCall> bad,
            Ranking ranking,
            List<String> missing,
            boolean isDeclining,
            boolean mayWarn,
            Instant now) {
        List<Cause> causes = withFormerFirst(ranking.causes());
        Diagnosis fresh = diagnosis(begun, counts, bad, ranking, causes, missing);
        String title = DiagnosisText.title(causes.get(0));
        firsts.addLast(title);
        if (firsts.size() > VOTES) {
            firsts.removeFirst();
        }
        seconds++;
        boolean agreed = firsts.stream().filter(title::equals).count() >= 2;
        Diagnosis current = published;
        if (current == null
                || (agreed && !isDeclining)
                || DiagnosisText.title(current.causes().get(0)).equals(title)) {
            publishedSeconds = current != null && titleOf(current).equals(title) ? publishedSeconds + 1 : 1;
            current = fresh;
            published = fresh;
            history.add(episode(fresh, now));
        }
        logs = mayWarn;
        boolean isUnexplained = current.causes().get(0).kind().equals(CauseText.UNEXPLAINED);
        boolean isClear = isUnexplained ? seconds >= MAX_UNEXPLAINED_SECONDS : agreed || seconds >= MAX_UNTOLD_SECONDS;
        if (loggedTitle == null && mayWarn && isClear) {
            warn("Calls miss", current, counts);
        } else if (loggedTitle != null) {
            warnOfOtherCause(current, counts);
        }
        return current;
    }

    /**
     * Keeps the published first cause in first place, unless a different cause takes clearly more time. Without this
     * rule, two causes of similar weight would swap places every few seconds although nothing has changed, and a
     * growing wait would soon take the place of its cause.
     */
    private List<Cause> withFormerFirst(List<Cause> causes) {
        Diagnosis before = published;
        String former = before == null || isOfSilentStore(causes.get(0)) ? "" : titleOf(before);
        for (Cause cause : causes) {
            boolean isBeforeWait = publishedSeconds >= SETTLED_SECONDS
                    && WAITS.contains(causes.get(0).kind())
                    && !WAITS.contains(cause.kind());
            double least = (isBeforeWait ? OF_WAIT : SIMILAR) * causes.get(0).ms();
            boolean isSimilar = !cause.kind().equals(CauseText.UNEXPLAINED) && cause.ms() >= least;
            if (DiagnosisText.title(cause).equals(former) && isSimilar) {
                List<Cause> sorted = new ArrayList<>(causes);
                sorted.remove(cause);
                sorted.add(0, cause);
                return sorted;
            }
        }
        return causes;
    }

    /**
     * Returns whether the cause is a database or Redis server that does not answer. Such a cause comes first even if
     * another cause takes more time.
     */
    private static boolean isOfSilentStore(Cause cause) {
        return cause.kind().equals("PEER FAILS") && PeerKinds.isSilentStore(new Part(Kind.PEER_FAILS, cause.name()));
    }

    private static String titleOf(Diagnosis diagnosis) {
        return DiagnosisText.title(diagnosis.causes().get(0));
    }

    /** While calls miss the latency target, logs the first cause if it differs from the last logged cause. */
    private void warnOfOtherCause(Diagnosis current, Evidence.Counts counts) {
        secondsSinceLine++;
        String title = DiagnosisText.title(current.causes().get(0));
        firstSeconds = title.equals(first) ? firstSeconds + 1 : 1;
        first = title;
        if (!title.equals(loggedTitle)
                && firstSeconds >= LASTING_SECONDS
                && secondsSinceLine >= MIN_SECONDS_BETWEEN_LINES) {
            warn("Calls still miss", current, counts);
        }
    }

    /** Returns the methods with late or failed calls, sorted by the number of these calls, largest first. */
    private static List<String> methods(Map<String, Integer> bad) {
        return bad.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Publishes a diagnosis immediately, because its cause is certain. Used while the heap is exhausted. */
    Diagnosis add(
            Begun begun, Evidence.Counts counts, List<String> methods, Cause cause, boolean mayWarn, Instant now) {
        Miss miss = new Miss(
                begun.since(),
                begun.seconds(),
                methods,
                begun.targetMs(),
                counts.calls(),
                counts.late(),
                counts.failed(),
                counts.refused(),
                counts.hung(),
                cause.ofMs(),
                begun.usualP99Ms());
        List<Cause> causes = List.of(cause);
        Diagnosis fresh =
                Diagnosis.ofMiss(DiagnosisText.of(miss, causes, Map.of()), miss, causes, Map.of(), 0, List.of());
        published = fresh;
        history.add(episode(fresh, now));
        logs = mayWarn;
        if (mayWarn && !DiagnosisText.title(cause).equals(loggedTitle)) {
            // If the heap is exhausted, the process may end soon. Its cause is therefore logged even if another cause
            // has just been logged.
            warn(loggedTitle == null ? "Calls miss" : "Calls still miss", fresh, counts);
        }
        return fresh;
    }

    private static Diagnosis diagnosis(
            Begun begun,
            Evidence.Counts counts,
            List<EndedCall> bad,
            Ranking ranking,
            List<Cause> causes,
            List<String> missing) {
        Miss miss = new Miss(
                begun.since(),
                begun.seconds(),
                methods(ranking.excess().badByMethod()),
                begun.targetMs(),
                counts.calls(),
                counts.late(),
                counts.failed(),
                counts.refused(),
                counts.hung(),
                p99(bad, counts),
                begun.usualP99Ms());
        Map<String, Double> account = new LinkedHashMap<>();
        Times times = ranking.excess().account;
        for (Part part : times.longestFirst()) {
            account.merge(label(part), times.of(part) / 1e6, Double::sum);
        }
        return Diagnosis.ofMiss(
                DiagnosisText.of(miss, causes, account), miss, causes, account, times.of(Account.OWN) / 1e6, missing);
    }

    private static History.Episode episode(Diagnosis diagnosis, Instant now) {
        Miss miss = diagnosis.miss();
        Cause first = diagnosis.causes().get(0);
        if (miss == null) {
            throw new IllegalArgumentException("a diagnosis without a miss");
        }
        return new History.Episode(
                miss.since(),
                now,
                now,
                miss.methods(),
                DiagnosisText.title(first),
                first.ms(),
                first.ofMs(),
                first.change().text(),
                miss.calls(),
                miss.late(),
                miss.failed(),
                miss.refused(),
                miss.hung(),
                miss.p99Ms());
    }

    private void warn(String calls, Diagnosis diagnosis, Evidence.Counts counts) {
        Miss miss = diagnosis.miss();
        Cause cause = diagnosis.causes().get(0);
        secondsSinceLine = 0;
        String title = DiagnosisText.title(cause);
        loggedTitle = title;
        log.execute(() -> LOG.warn(
                "{} the target of {} ms: {} of {} late, {} failed, {} refused, {} hang. First cause: {} ({})."
                        + " Change: {}. The whole diagnosis: /actuator/rpc/diagnosis",
                calls,
                miss == null ? "?" : Math.round(miss.targetMs()),
                counts.late(),
                counts.calls(),
                counts.failed(),
                counts.refused(),
                counts.hung(),
                title,
                DiagnosisText.amount(cause),
                cause.change().text()));
    }

    /** Logs that calls meet the latency target again. */
    void end(long lastedSeconds) {
        Diagnosis last = published;
        if (logs && last != null) {
            log.execute(() -> LOG.info(
                    "Calls meet the target again, after {} s. The first cause was: {}",
                    lastedSeconds,
                    DiagnosisText.title(last.causes().get(0))));
        }
        published = null;
        loggedTitle = null;
        logs = false;
        first = null;
        firstSeconds = 0;
        seconds = 0;
        publishedSeconds = 0;
        firsts.clear();
    }

    private static String label(Part part) {
        if (part.kind() == Part.Kind.COLLECTOR) {
            return "garbage collector";
        }
        String kind = part.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return part.name().isEmpty() ? kind : kind + " " + part.name();
    }

    /**
     * Returns the 99th percentile of the times of all calls. Late and failed calls are assumed to be the slowest calls,
     * so only their times are sorted.
     */
    private static double p99(List<EndedCall> bad, Evidence.Counts counts) {
        List<EndedCall> slowest = new ArrayList<>(bad);
        slowest.sort(Comparator.comparingLong(EndedCall::tookNanos));
        if (slowest.isEmpty()) {
            return 0;
        }
        double badShare = Math.min(1, counts.bad() / (double) Math.max(1, counts.calls() + counts.refused()));
        double within = Math.max(0, (badShare - (1 - P99)) / badShare);
        int index = (int) Math.min(slowest.size() - 1, Math.floor(within * slowest.size()));
        return slowest.get(index).tookNanos() / 1e6;
    }
}
