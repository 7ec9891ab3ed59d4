package tern.rpc.diagnosis;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Finds what a failure is about, without values of the call. */
final class FailurePart {

    private static final int MAX_CAUSES = 8;

    /** Simple names of exceptions by which a wait for a connection ends; the account shows the pool. */
    private static final Set<String> POOL_TIMEOUTS = Set.of(
            "GetConnectionTimeoutException",
            "SQLTransientConnectionException",
            "CannotGetJdbcConnectionException",
            "JedisExhaustedPoolException",
            "ConnectionRequestTimeoutException");

    private static final Set<String> DATABASE = Set.of("SQLException", "JedisException", "DataAccessException");

    private FailurePart() {}

    /** What the failure of a call is about; null if its time tells more, as for a call that ran out of time. */
    static @Nullable Part of(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null) {
            return null;
        }
        Throwable innermost = failure;
        Part remote = null;
        for (int i = 0; i < MAX_CAUSES && innermost != null; i++) {
            if (POOL_TIMEOUTS.contains(innermost.getClass().getSimpleName()) || isTimeOut(innermost)) {
                return null;
            }
            if (innermost instanceof RpcException && longest(call, Phase.RPC) != null) {
                remote = longest(call, Phase.RPC);
            }
            if (innermost.getCause() == null) {
                break;
            }
            innermost = innermost.getCause();
        }
        if (remote != null) {
            return remote;
        }
        return peer(call, innermost == null ? failure : innermost, failure);
    }

    private static boolean isTimeOut(Throwable failure) {
        return (failure instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED)
                || failure.getClass().getSimpleName().endsWith("TimeoutException");
    }

    private static Part peer(EndedCall call, Throwable innermost, Throwable failure) {
        boolean network = innermost instanceof java.io.IOException
                || DATABASE.stream().anyMatch(name -> extendsNamed(failure, name));
        if (network) {
            for (Phase phase :
                    List.of(Phase.SQL, Phase.JDBC_CONNECTION, Phase.REDIS, Phase.HTTP, Phase.HTTP_CONNECTION)) {
                if (call.ledger().count(phase) > 0) {
                    Part named = longest(call, phase);
                    return named != null ? named : Account.part(phase, "");
                }
            }
        }
        StackTraceElement frame = ApplicationCode.first(innermost.getStackTrace());
        if (frame == null) {
            frame = ApplicationCode.first(failure.getStackTrace());
        }
        String type = innermost.getClass().getSimpleName();
        return new Part(Kind.FAILURE, frame == null ? type : type + " in " + ApplicationCode.shown(frame));
    }

    private static boolean extendsNamed(Throwable failure, String simpleName) {
        for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getSimpleName().equals(simpleName)) {
                return true;
            }
        }
        return failure.getCause() != null
                && failure.getCause() != failure
                && extendsNamed(failure.getCause(), simpleName);
    }

    private static @Nullable Part longest(EndedCall call, Phase phase) {
        NamedTimes.Entry longest = null;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase && (longest == null || entry.nanos() > longest.nanos())) {
                longest = entry;
            }
        }
        return longest == null ? null : Account.part(phase, longest.name());
    }
}
