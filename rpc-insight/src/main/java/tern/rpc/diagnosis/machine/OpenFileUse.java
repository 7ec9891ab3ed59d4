package tern.rpc.diagnosis.machine;

import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.OpenFiles;
import tern.rpc.evidence.OpenFiles.Target;

/**
 * What the open files and sockets of this process refer to, compared with an earlier time.
 *
 * @param before the earlier reading; {@link OpenFiles#UNKNOWN} if there is none
 * @param seconds the time between the two readings
 */
public record OpenFileUse(OpenFiles now, OpenFiles before, long seconds) {

    public static final OpenFileUse UNKNOWN = new OpenFileUse(OpenFiles.UNKNOWN, OpenFiles.UNKNOWN, 0);

    /** The limit counts as near if at least {@value} of it is in use. */
    private static final double NEAR = 0.8;

    /** A target can have grown enough to fill the limit only if it has gained at least {@value} of all open files. */
    private static final double GROWN = 0.1;

    /** A target whose growth is unknown is named only if it has at least {@value} of all open files. */
    private static final double MOST = 0.25;

    private static final int MAX_TARGETS = 3;

    /** Returns whether the process will soon be unable to open files and sockets. */
    public boolean isNear() {
        return now.limit() > 0 && now.open() >= NEAR * now.limit();
    }

    /**
     * Returns the target that uses up the limit: the one that has grown most or, if none has grown, the most frequent
     * one. Returns null if the limit is not near, or if no target stands out.
     */
    public @Nullable Target leak() {
        if (!isNear()) {
            return null;
        }
        Target grown = before.open() < 0
                ? null
                : now.targets().stream()
                        .filter(target -> growth(target) >= GROWN * now.open())
                        .max(Comparator.comparingInt(this::growth))
                        .orElse(null);
        return grown != null
                ? grown
                : now.targets().stream()
                        .filter(target -> target.count() >= MOST * now.open())
                        .findFirst()
                        .orElse(null);
    }

    private int growth(Target target) {
        return target.count() - before.countOf(target.name());
    }

    /** Returns text with the number of open files with the given target, and with their earlier number if known. */
    public String count(Target target) {
        int earlier = before.open() < 0 ? target.count() : before.countOf(target.name());
        return target.count() + " " + target.name()
                + (earlier == target.count() ? "" : " (" + time() + " before: " + earlier + ")");
    }

    private String time() {
        return seconds < 120 ? seconds + " s" : seconds / 60 + " min";
    }

    /** Returns a line with the most frequent targets; empty if nothing is known. */
    public String line() {
        return now.open() < 0
                ? ""
                : String.format(Locale.ROOT, "open     %,d of %,d files and sockets", now.open(), now.limit())
                        + (now.targets().isEmpty() ? "" : ": ")
                        + now.targets().stream()
                                .limit(MAX_TARGETS)
                                .map(this::count)
                                .collect(Collectors.joining(", "));
    }

    /** Returns the line if the limit is near; otherwise an empty string. */
    public String warning() {
        return isNear() ? line() + "; at the limit (ulimit -n), nothing can be opened" : "";
    }
}
