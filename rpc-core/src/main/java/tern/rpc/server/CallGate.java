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
import tern.rpc.StatusCode;
import tern.rpc.limit.SeldomWarning;
import tern.rpc.transport.AcceptedTokens;

/** Says who may call: first the tokens, then the authorizers. Thread-safe. */
final class CallGate {

    private static final Logger LOG = LoggerFactory.getLogger(CallGate.class);

    /** An authorizer that fails, fails for every call. */
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

    /** Whether nobody is asked for anything. */
    boolean isOpen() {
        return tokens.isEmpty() && authorizers.isEmpty();
    }

    AcceptedTokens tokens() {
        return tokens;
    }

    /** Calls refused because of who made them, since the beginning. */
    long refused() {
        return tokens.refused() + refused.sum();
    }

    /**
     * Lets a call pass or not, on a worker thread.
     *
     * @return who calls; null if nobody knows
     * @throws RpcException if it may not run
     */
    @Nullable
    Principal admit(CallHead call) {
        tokens.check(
                call.service().interfaceName(),
                call.method(),
                call.metadata().get(AcceptedTokens.ATTACHMENT),
                call.metadata().get(AcceptedTokens.AUTHORIZATION));
        if (call.service().interfaceName().equals(AcceptedTokens.OPEN_SERVICE)) {
            return call.principal();
        }
        CallHead asked = call;
        for (RpcAuthorizer authorizer : authorizers) {
            Principal found = ask(authorizer, asked);
            if (found != null) {
                asked = asked.withPrincipal(found);
            }
        }
        return asked.principal();
    }

    /** A service does not get to see the token that opens this server. */
    void conceal(Invocation call) {
        tokens.conceal(call.metadata());
    }

    private @Nullable Principal ask(RpcAuthorizer authorizer, CallHead call) {
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

    /** The caller is not told why: it might learn about the inside. */
    private RpcException failed(RpcAuthorizer authorizer, CallHead call, Throwable cause) {
        failing.warn(
                () -> call + " was refused because " + authorizer.getClass().getName() + " failed", cause);
        return RpcException.refusal(
                StatusCode.INTERNAL, call + " was refused: whether it may run could not be decided", Executed.NO);
    }
}
