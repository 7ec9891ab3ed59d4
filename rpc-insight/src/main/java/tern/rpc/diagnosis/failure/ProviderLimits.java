package tern.rpc.diagnosis.failure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.account.EndedCall;

/** Reads the limit that a provider has reached from the message of its refusal, which comes from Tern's server. */
public final class ProviderLimits {

    /** Matches the value of the limit, and how and where it is set. */
    private static final Pattern LIMIT =
            Pattern.compile("(?:the limit is |\\d+ of )(\\d+)(?: are (?:running|busy))? (\\([^()]*set by [^()]+\\))");

    private ProviderLimits() {}

    /**
     * Returns the limit, for example {@code 1 (fixed, set by rpc.server.max-concurrency)}; null if no provider refused a
     * remote call of the given call.
     */
    public static @Nullable String of(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null) {
            return null;
        }
        for (Throwable one : Exceptions.chain(failure)) {
            boolean isRefusal = one instanceof RpcException rpc && rpc.code() == StatusCode.RESOURCE_EXHAUSTED;
            Matcher limit =
                    LIMIT.matcher(isRefusal ? ((RpcException) one).status().description() : "");
            if (limit.find()) {
                return limit.group(1) + " " + limit.group(2);
            }
        }
        return null;
    }
}
