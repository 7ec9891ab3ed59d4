package tern.rpc.server;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallHead;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.transport.AcceptedTokens;

/**
 * Decides whether a caller may make a call. The gate first checks the tokens, then calls the authorizers. Thread-safe.
 */
final class CallGate {

    private static final Logger LOG = LoggerFactory.getLogger(CallGate.class);

    /**
     * The minimum interval between two warnings. The rate of warnings is limited, because a faulty authorizer fails for
     * every call.
     */
    private static final Duration BETWEEN_WARNINGS = Duration.ofMillis(250);

    private final AcceptedTokens tokens;
    private final List<RpcAuthorizer> authorizers;
    private final LongAdder refused = new LongAdder();
    private final SeldomWarning failing;

    CallGate(AcceptedTokens tokens, List<RpcAuthorizer> authorizers, NanoClock clock) {
        this.tokens = tokens;
        this.authorizers = List.copyOf(authorizers);
        this.failing = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
    }

    /** Returns whether every call is admitted, because there are neither tokens nor authorizers. */
    boolean isOpen() {
        return tokens.isEmpty() && authorizers.isEmpty();
    }

    boolean hasAuthorizers() {
        return !authorizers.isEmpty();
    }

    AcceptedTokens tokens() {
        return tokens;
    }

    /** Returns the number of calls that tokens and authorizers have refused since the start. */
    long refused() {
        return tokens.refused() + refused.sum();
    }

    /**
     * Admits or refuses a call. Runs on a worker thread.
     *
     * @param progress records which authorizer is running
     * @return the caller, or null if the caller is unknown
     * @throws RpcException if the call is refused
     */
    @Nullable
    Principal admit(CallHead call, AuthorizerProgress progress) {
        if (AcceptedTokens.isOpen(call)) {
            return call.principal();
        }
        checkOnce(call, AcceptedTokens.ATTACHMENT);
        checkOnce(call, AcceptedTokens.AUTHORIZATION);
        tokens.check(
                call.toString(),
                call.metadata().get(AcceptedTokens.ATTACHMENT),
                call.metadata().get(AcceptedTokens.AUTHORIZATION));
        CallHead current = call;
        for (RpcAuthorizer authorizer : authorizers) {
            progress.begin(authorizer);
            Principal found = check(authorizer, current);
            if (found != null) {
                current = current.withPrincipal(found);
            }
        }
        return current.principal();
    }

    private void checkOnce(CallHead call, String name) {
        if (call.metadata().count(name) > 1) {
            throw tokens.doubled(call.toString(), name);
        }
    }

    /** Records which authorizer is currently checking a call. Other threads read this record to explain a timeout. */
    static final class AuthorizerProgress {

        private final CallHead call;
        private volatile @Nullable RpcAuthorizer current;

        AuthorizerProgress(CallHead call) {
            this.call = call;
        }

        private void begin(RpcAuthorizer authorizer) {
            current = authorizer;
        }

        boolean isLate(long now) {
            return call.deadline().isExpired(now);
        }

        /** Creates the failure of a call whose deadline passed before an authorizer returned. */
        RpcException late() {
            RpcAuthorizer checking = current;
            return RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + ": the deadline passed before "
                            + (checking == null
                                    ? "its token was checked"
                                    : checking.getClass().getName() + " had decided whether it may run")
                            + "; it was not run",
                    Executed.NO);
        }
    }

    /** Removes the server's token from the metadata, so that the service does not see it. */
    void conceal(Invocation call) {
        tokens.conceal(call.metadata());
    }

    private @Nullable Principal check(RpcAuthorizer authorizer, CallHead call) {
        try {
            return authorizer.authorize(call);
        } catch (RpcException e) {
            refused.increment();
            if (e.code() != StatusCode.PERMISSION_DENIED && e.code() != StatusCode.UNAUTHENTICATED) {
                throw failed(authorizer, call, e);
            }
            throw RpcException.refusal(e.code(), e.status().description(), Executed.NO);
        } catch (Throwable e) {
            refused.increment();
            throw failed(authorizer, call, e);
        }
    }

    /**
     * Logs that an authorizer failed, and returns the failure for the caller. The failure does not contain the reason,
     * because the reason might reveal internal details.
     */
    private RpcException failed(RpcAuthorizer authorizer, CallHead call, Throwable cause) {
        failing.warn(
                () -> call + " was refused because " + authorizer.getClass().getName() + " failed", cause);
        return RpcException.refusal(
                StatusCode.INTERNAL, call + " was refused: its authorization failed with an error", Executed.NO);
    }
}
