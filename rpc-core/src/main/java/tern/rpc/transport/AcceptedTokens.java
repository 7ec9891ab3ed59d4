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
 * The tokens that the server accepts. There may be several, so that a new token can reach all callers before the old
 * one is removed. Thread-safe. No method blocks.
 */
public final class AcceptedTokens {

    /** The service of {@code grpc.health.v1}. Probes call it without a token. */
    public static final String OPEN_SERVICE = "grpc.health.v1.Health";

    /**
     * The methods of this service that need no token. Methods that every service has, such as {@code $echo}, need a
     * token here too.
     */
    public static final List<String> OPEN_METHODS = List.of("Check", "Watch");

    private static final ServiceKey OPEN_KEY = new ServiceKey(OPEN_SERVICE, "", "");

    /** The attachment or header that contains only the token, as Dubbo sends it. */
    public static final String ATTACHMENT = "token";

    private static final String BINARY = "-bin"; // suffix of the names of binary headers

    /** The header that contains the token after its scheme. */
    public static final String AUTHORIZATION = "authorization";

    private static final String REMEDY = " (set rpc.client.token to one of the server's rpc.server.token)";

    private final List<Token> tokens;
    private final LongAdder refused = new LongAdder();

    /**
     * @param tokens empty to accept every caller
     * @throws IllegalArgumentException if a token cannot be sent in a header; the message does not contain the token
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

    /** Whether every caller is accepted. */
    public boolean isEmpty() {
        return tokens.isEmpty();
    }

    /** The number of calls refused because of their token since the start. */
    public long refused() {
        return refused.sum();
    }

    /**
     * Whether the call is a health probe, which needs no token. A path with another spelling does not count as a probe.
     */
    public static boolean isOpen(CallHead call) {
        return !call.isGeneric()
                && OPEN_KEY.equals(call.service())
                && OPEN_METHODS.contains(call.method())
                && call.toString().equals(OPEN_SERVICE + "/" + call.method());
    }

    /**
     * Admits or refuses a call for which {@link #isOpen} is false.
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
                            ? "it has no token, but this server requires one" + REMEDY
                            : "this server does not accept its token" + REMEDY);
        }
    }

    /**
     * The refusal of a call that has the same credential header more than once. A proxy in front may have checked a
     * different one of them.
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
     * Removes accepted tokens from the metadata that a service sees and might pass on. It also removes credentials in
     * binary form, which were never checked.
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
        for (Token token : tokens) { // compares all tokens, so that the time does not reveal which one matched
            accepted |= token.matches(bytes);
        }
        return accepted;
    }
}
