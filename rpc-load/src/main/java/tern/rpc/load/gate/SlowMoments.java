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

/**
 * Collects diagnoses while the application misses the target. After the load, the cause would no longer be visible.
 * Confined to one thread.
 */
final class SlowMoments implements OpenLoopDriver.Progress {

    /** The minimum interval between two diagnoses. */
    private static final Duration APART = Duration.ofSeconds(5);

    private final Target target;
    private final Supplier<CompletableFuture<String>> look;
    private final List<CompletableFuture<String>> looks = new ArrayList<>();
    private @Nullable Duration lastLook;

    SlowMoments(Target target, Supplier<CompletableFuture<String>> look) {
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

    /**
     * Returns the last diagnosis that was requested while the application missed the target, as text for a terminal.
     * Blocks until that diagnosis has arrived.
     */
    String text() {
        if (looks.isEmpty()) {
            return String.format("No single second missed the target, so no diagnosis was requested.%n");
        }
        String last = null;
        String failure = "";
        for (CompletableFuture<String> one : looks) {
            try {
                String diagnosis = one.join();
                last = last == null || diagnosis.startsWith("MISS") ? diagnosis : last;
            } catch (CompletionException e) {
                failure = String.valueOf(e.getCause());
            }
        }
        return last == null
                ? String.format("There is no diagnosis: %s%n", failure)
                : String.format(Locale.ROOT, "While it was slow (the last of %d looks):%n%s", looks.size(), last);
    }
}
