package tern.rpc.diagnosis.failure;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * The reason why a call failed, in a few words. The reason contains no values from the call, so that calls can be
 * counted by their reasons.
 *
 * @param isRefusal whether a limiter in this process, such as a bulkhead, refused the call or an operation of it
 */
public record FailureReason(boolean isRefusal, String text) {

    /** The reason of calls whose failure is not recorded. */
    public static final FailureReason UNKNOWN = new FailureReason(false, "the exceptions are not recorded");

    /** Returns the reason why the given call failed; null if it did not fail. */
    public static @Nullable FailureReason of(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null) {
            return null;
        }
        Part part = FailurePart.of(call);
        if (part == null) {
            return new FailureReason(false, timeOut(call, failure));
        }
        return switch (part.kind()) {
            case LIMIT -> new FailureReason(true, part.name());
            case EXECUTOR -> new FailureReason(true, ("full executor " + part.name()).replace("  ", " "));
            case POOL -> new FailureReason(false, at("no connection from " + pool(part) + " in time", call));
            case FAILURE -> new FailureReason(false, part.name());
            case PEER_FAILS -> new FailureReason(false, at(part.name(), call));
            default ->
                new FailureReason(
                        false, at(part.kind().name().toLowerCase(Locale.ROOT) + " " + part.name() + " failed", call));
        };
    }

    private static String pool(Part wait) {
        return wait.name().isEmpty() ? "a pool" : "pool " + wait.name();
    }

    private static String timeOut(EndedCall call, Throwable failure) {
        Part operation = FailurePart.timedOut(call);
        if (operation == null) {
            return at(Exceptions.named(failure), call);
        }
        if (operation.kind() == Kind.TIMEOUT) {
            return operation.name().equals(FailurePart.DEADLINE)
                    ? "the " + FailurePart.DEADLINE + " passed"
                    : operation.name();
        }
        String limit = FailurePart.limit(call);
        return at("timeout of " + operation.name() + (limit == null ? "" : " after " + limit), call);
    }

    /** Adds the application's line that failed. */
    private static String at(String text, EndedCall call) {
        String place = FailurePart.placeOf(call);
        return place == null || text.endsWith(place) ? text : text + Exceptions.IN + place;
    }
}
