package tern.rpc.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a method is called. What is null is taken from the level above: method, service, the interface's own marks, client.
 *
 * @param timeout all attempts together
 * @param idempotent whether it may be sent again when it may have run
 * @param oneWay whether no answer is waited for
 * @param timeoutFrom what set the timeout, a property as a rule; messages of late calls name it
 */
public record MethodSettings(
        @Nullable Duration timeout,
        @Nullable Boolean idempotent,
        @Nullable Boolean oneWay,
        @Nullable String timeoutFrom) {

    public static final MethodSettings NONE = new MethodSettings(null, null, null);

    public MethodSettings {
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("a timeout is " + timeout + "; expected more than 0");
        }
    }

    /** Whose timeout comes from the program. */
    public MethodSettings(@Nullable Duration timeout, @Nullable Boolean idempotent, @Nullable Boolean oneWay) {
        this(timeout, idempotent, oneWay, null);
    }

    public MethodSettings withTimeout(Duration replaced) {
        return new MethodSettings(replaced, idempotent, oneWay);
    }

    /** @param from what sets it, for messages */
    public MethodSettings withTimeout(Duration replaced, String from) {
        return new MethodSettings(replaced, idempotent, oneWay, from);
    }

    public MethodSettings withIdempotent(boolean replaced) {
        return new MethodSettings(timeout, replaced, oneWay, timeoutFrom);
    }

    public MethodSettings withOneWay(boolean replaced) {
        return new MethodSettings(timeout, idempotent, replaced, timeoutFrom);
    }

    /** Says what set the timeout, if nothing did so yet. */
    MethodSettings from(String origin) {
        return timeout == null || timeoutFrom != null ? this : new MethodSettings(timeout, idempotent, oneWay, origin);
    }

    /** Filled up from the level above. */
    MethodSettings or(MethodSettings above) {
        return new MethodSettings(
                timeout != null ? timeout : above.timeout,
                idempotent != null ? idempotent : above.idempotent,
                oneWay != null ? oneWay : above.oneWay,
                timeout != null ? timeoutFrom : above.timeoutFrom);
    }
}
