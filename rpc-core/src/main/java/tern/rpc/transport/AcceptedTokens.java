package tern.rpc.transport;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Metadata;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

/**
 * The tokens of which a caller has to show one. Several at a time let a new one reach all callers before the old one
 * goes. Thread-safe; nothing here blocks.
 */
public final class AcceptedTokens {

    /** Asked by probes, which have no token, so its own methods need none (the service of {@code grpc.health.v1}). */
    public static final String OPEN_SERVICE = "grpc.health.v1.Health";

    /** The methods that need no token; those that every service has, such as {@code $echo}, do need one here too. */
    public static final List<String> OPEN_METHODS = List.of("Check", "Watch");

    private static final ServiceKey OPEN_KEY = new ServiceKey(OPEN_SERVICE, "", "");

    /** Attachment or header with the token alone, as Dubbo sends it. */
    public static final String ATTACHMENT = "token";

    private static final String BINARY = "-bin"; // ends names of binary headers

    /** Header with the token behind its scheme. */
    public static final String AUTHORIZATION = "authorization";

    private static final String REMEDY = " (set rpc.client.token to one of the server's rpc.server.token)";

    private final List<Token> tokens;
    private final LongAdder refused = new LongAdder();

    /**
     * @param tokens none to let everybody pass
     * @throws IllegalArgumentException if one of them cannot travel; it is not shown
     */
    public AcceptedTokens(List<Token> tokens) {
        this.tokens = List.copyOf(tokens);
        for (int i = 0; i < tokens.size(); i++) {
            if (!tokens.get(i).isUsable()) {
                throw new IllegalArgumentException("accepted token " + (i + 1) + " of " + tokens.size()
                        + " is empty or has characters other than visible ASCII");
            }
        }
    }

    /** Whether everybody passes. */
    public boolean isEmpty() {
        return tokens.isEmpty();
    }

    /** Callers who were sent away, since the beginning. */
    public long refused() {
        return refused.sum();
    }

    /** Whether a call is one of a probe, which nobody is asked about; another spelling of its path is none. */
    public static boolean isOpen(CallHead call) {
        return !call.isGeneric()
                && OPEN_KEY.equals(call.service())
                && OPEN_METHODS.contains(call.method())
                && call.toString().equals(OPEN_SERVICE + "/" + call.method());
    }

    /**
     * Lets a call pass or not. The caller has looked whether it {@linkplain #isOpen is open to all}.
     *
     * @param call service and method as the caller wrote them
     * @param attachment see {@link #ATTACHMENT}; null for none
     * @param authorization see {@link #AUTHORIZATION}; null for none
     * @throws RpcException UNAUTHENTICATED, not executed, if neither has an accepted token
     */
    public void check(String call, @Nullable String attachment, @Nullable String authorization) {
        if (tokens.isEmpty()) {
            return;
        }
        String bearer = CallHead.bearerOf(authorization);
        if (!isAccepted(attachment) && !isAccepted(bearer)) {
            throw refusal(
                    call,
                    attachment == null && bearer == null
                            ? "it shows no token, which this server asks for" + REMEDY
                            : "this server does not accept the token that it shows" + REMEDY);
        }
    }

    /**
     * Refuses a call that has a header of credentials more than once: whoever looked at it before may have looked at
     * another of them.
     *
     * @param call service and method as the caller wrote them
     * @param name {@link #ATTACHMENT} or {@link #AUTHORIZATION}
     */
    public RpcException doubled(String call, String name) {
        return refusal(call, "it has more than one '" + name + "'; send one");
    }

    private RpcException refusal(String call, String why) {
        refused.increment();
        return RpcException.refusal(
                StatusCode.UNAUTHENTICATED, "call of " + PeerText.name(call) + " refused: " + why, Executed.NO);
    }

    /**
     * Takes an accepted token out of what a service gets to see and might pass on. Credentials in binary form, which
     * nobody has looked at, go too.
     */
    public void conceal(Metadata metadata) {
        metadata.remove(ATTACHMENT + BINARY);
        metadata.remove(AUTHORIZATION + BINARY);
        if (tokens.isEmpty()) {
            return;
        }
        if (isAccepted(metadata.get(ATTACHMENT))) {
            metadata.remove(ATTACHMENT);
        }
        if (isAccepted(CallHead.bearerOf(metadata.get(AUTHORIZATION)))) {
            metadata.remove(AUTHORIZATION);
        }
    }

    private boolean isAccepted(@Nullable String shown) {
        if (shown == null) {
            return false;
        }
        byte[] bytes = shown.getBytes(StandardCharsets.UTF_8);
        boolean accepted = false;
        for (Token token : tokens) { // all of them, so that the time does not tell which
            accepted |= token.matches(bytes);
        }
        return accepted;
    }
}
