package tern.rpc.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a method is called. What is null is taken from the level above: method, service, the interface's own marks, client.
 *
 * @param timeout all attempts together
 * @param idempotent whether it may be sent again when it may have run
 * @param oneWay whether no answer is waited for
 */
public record MethodSettings(
        @Nullable Duration timeout,
        @Nullable Boolean idempotent,
        @Nullable Boolean oneWay) {

    public static final MethodSettings NONE = new MethodSettings(null, null, null);

    public MethodSettings {
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("a timeout is " + timeout + "; expected more than 0");
        }
    }

    public MethodSettings withTimeout(Duration replaced) {
        return new MethodSettings(replaced, idempotent, oneWay);
    }

    /** Filled up from the level above. */
    MethodSettings or(MethodSettings above) {
        return new MethodSettings(
                timeout != null ? timeout : above.timeout,
                idempotent != null ? idempotent : above.idempotent,
                oneWay != null ? oneWay : above.oneWay);
    }
}
