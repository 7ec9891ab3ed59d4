package tern.rpc.load.gate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.OpenLoopDriver;
import tern.rpc.load.Tally;
import tern.rpc.load.Target;
import tern.rpc.waiting.WaitingReport;

/**
 * Collects waiting reports of the application while it misses the target. After the load there would be no waits to
 * see. Confined to one thread.
 */
final class SlowMoments implements OpenLoopDriver.Progress {

    /**
     * Minimum time between two reports. A report pauses the application for some milliseconds, and these pauses must
     * not cause the missed target.
     */
    private static final Duration APART = Duration.ofSeconds(5);

    private static final int ROWS = 5;

    private final Target target;
    private final Supplier<CompletableFuture<WaitingReport>> look;
    private final List<CompletableFuture<WaitingReport>> looks = new ArrayList<>();
    private @Nullable Duration lastLook;

    SlowMoments(Target target, Supplier<CompletableFuture<WaitingReport>> look) {
        this.target = target;
        this.look = look;
    }

    @Override
    public void report(Tally.Second second) {
        boolean rested = lastLook == null || second.sinceStart().minus(lastLook).compareTo(APART) >= 0;
        if (rested && isSlow(second)) {
            lastLook = second.sinceStart();
            looks.add(look.get());
        }
    }

    private boolean isSlow(Tally.Second second) {
        return !second.warmUp()
                && (second.errors() > 0
                        || second.p99Millis() >= target.latency().toNanos() / 1e6);
    }

    /** Returns the most frequent waits as text for a terminal. Blocks until the last report has arrived. */
    String text() {
        if (looks.isEmpty()) {
            return String.format("No second missed the target by itself, so nobody looked at the threads.%n");
        }
        WaitingReport worst = null;
        String failure = "";
        for (CompletableFuture<WaitingReport> one : looks) {
            try {
                WaitingReport report = one.join();
                worst = worst == null || report.waiting() > worst.waiting() ? report : worst;
            } catch (CompletionException e) {
                failure = String.valueOf(e.getCause());
            }
        }
        return worst == null
                ? String.format("What its threads waited for is not known: %s%n", failure)
                : String.format(
                        Locale.ROOT,
                        "While it was slow (the worst of %d looks):%n%s%n",
                        looks.size(),
                        firstRows(worst).text());
    }

    private static WaitingReport firstRows(WaitingReport all) {
        return new WaitingReport(
                all.vitals(),
                all.threads(),
                all.calls(),
                all.waiting(),
                all.rows().subList(0, Math.min(ROWS, all.rows().size())),
                all.pools().stream()
                        .filter(pool -> pool.waiting() + pool.refused() + pool.callerRuns() > 0)
                        .toList());
    }
}
