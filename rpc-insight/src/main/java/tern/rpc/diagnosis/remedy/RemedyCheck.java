package tern.rpc.diagnosis.remedy;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * After a recommended property has been changed, compares the expected effect with the effect measured a minute later.
 * One thread adds data. Any thread may call {@link #line}.
 */
public final class RemedyCheck {

    private static final long MEASURED_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long SHOWN_NANOS = TimeUnit.MINUTES.toNanos(10);

    private @Nullable Change advised;
    private long changedNanos = -1;
    private volatile String line = "";

    /** Records the change that a diagnosis recommends for its first cause. */
    public void advised(Change change) {
        if (change.property() != null && change.expectedP99Ms() >= 0 && changedNanos < 0) {
            advised = change;
        }
    }

    /**
     * Checks whether the recorded change has been made, and updates the text that {@link #line} returns.
     *
     * @param p99Ms the 99th percentile of the call times in the last minute, in milliseconds
     */
    public void look(List<PoolSnapshot> pools, double p99Ms, long now) {
        Change change = advised;
        if (change == null) {
            return;
        }
        if (changedNanos < 0) {
            changedNanos = isSet(change, pools) ? now : -1;
        } else if (line.isEmpty() && now - changedNanos >= MEASURED_NANOS) {
            line = String.format(
                    Locale.ROOT,
                    "check    %s=%s: expected p99 %.0f ms, got %.0f%n",
                    change.property(),
                    change.to(),
                    change.expectedP99Ms(),
                    p99Ms);
        } else if (now - changedNanos >= MEASURED_NANOS + SHOWN_NANOS) {
            advised = null;
            changedNanos = -1;
            line = "";
        }
    }

    private static boolean isSet(Change change, List<PoolSnapshot> pools) {
        for (PoolSnapshot pool : pools) {
            for (PoolSetting setting : pool.settings()) {
                if (setting.property().equals(change.property())
                        && setting.value().equals(change.to())) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Returns a line that compares the expected 99th percentile with the percentile measured after the property was
     * changed. The line is available for ten minutes, starting one minute after the change. At any other time, the
     * result is an empty string.
     */
    public String line() {
        return line;
    }
}
