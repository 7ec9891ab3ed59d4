package tern.rpc.diagnosis.failure;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;

/**
 * Reads the time limit of an operation from the exception of its timeout. The limit is exact. The measured time of the
 * operation is often longer, because the thread of the call continues later on a busy machine.
 */
public final class StatedLimits {

    /** Matches the time limit of a remote call at the beginning of its description. */
    private static final Pattern MILLIS = Pattern.compile("^(\\d{1,15}) ms ");

    /** Matches the message of the Redis client Lettuce. */
    private static final Pattern COMMAND =
            Pattern.compile("^Command timed out after (\\d{1,15}) (millisecond|second|minute)\\(s\\)");

    /** The settings with which databases limit the time of statements, by the text of their messages. */
    private static final Map<String, String> SETTINGS = Map.of(
            "max_statement_time exceeded", "max_statement_time",
            "maximum statement execution time exceeded", "max_execution_time",
            "canceling statement due to statement timeout", "statement_timeout");

    private StatedLimits() {}

    /** Returns the setting of the database that ended a statement of the call; null if no exception states it. */
    public static @Nullable String databaseSetting(EndedCall call) {
        Throwable failure = call.failure();
        for (Throwable one : failure == null ? List.<Throwable>of() : Exceptions.chain(failure)) {
            String message = String.valueOf(one.getMessage());
            for (Map.Entry<String, String> setting : SETTINGS.entrySet()) {
                if (message.contains(setting.getKey())) {
                    return setting.getValue();
                }
            }
        }
        return null;
    }

    /** Returns the time limit that ended an operation of the call, in nanoseconds; -1 if no exception states it. */
    public static double nanos(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null) {
            return -1;
        }
        String remote = FailurePart.limit(call);
        if (remote != null) {
            return found(MILLIS.matcher(remote), "MILLISECONDS");
        }
        double awaited = WaitLimits.nanos(call);
        for (Throwable one : Exceptions.chain(failure)) {
            Matcher command = COMMAND.matcher(String.valueOf(one.getMessage()));
            if (awaited < 0 && command.find()) {
                awaited = nanos(command, command.group(2).toUpperCase(Locale.ROOT) + "S");
            }
        }
        return awaited;
    }

    private static double found(Matcher limit, String unit) {
        return limit.find() ? nanos(limit, unit) : -1;
    }

    private static double nanos(Matcher limit, String unit) {
        return TimeUnit.valueOf(unit).toNanos(Long.parseLong(limit.group(1)));
    }
}
