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
 * The tokens that a server accepts. A server may accept several tokens, so that every caller can switch to a new token
 * before the old token is removed. Thread-safe. No method blocks.
 */
public final class AcceptedTokens {

    /** gRPC's health service. Health probes call it without a token. */
    public static final String OPEN_SERVICE = "grpc.health.v1.Health";

    /**
     * The methods of the health service that need no token. Built-in methods, such as {@code $echo}, need a token even
     * on this service.
     */
    public static final List<String> OPEN_METHODS = List.of("Check", "Watch");

    private static final ServiceKey OPEN_KEY = new ServiceKey(OPEN_SERVICE, "", "");

    /** The attachment or header that contains only the token, as sent by Dubbo. */
    public static final String ATTACHMENT = "token";

    private static final String BINARY = "-bin"; // the suffix of binary header names

    /** The header that contains the token after the scheme {@code Bearer}. */
    public static final String AUTHORIZATION = "authorization";

    private static final String REMEDY = "; send one of the tokens in rpc.server.token: in a Tern client set"
            + " rpc.client.token, otherwise send the header 'authorization: Bearer <token>'";

    private final List<Token> tokens;
    private final LongAdder refused = new LongAdder();

    /**
     * @param tokens the tokens, or empty to accept every caller
     * @throws IllegalArgumentException if a token cannot be sent in a header; the message does not contain the token
     */
    public AcceptedTokens(List<Token> tokens) {
        this.tokens = List.copyOf(tokens);
        for (int i = 0; i < tokens.size(); i++) {
            if (!tokens.get(i).isUsable()) {
                throw new IllegalArgumentException("accepted token " + (i + 1) + " of " + tokens.size()
                        + " is empty or contains characters other than visible ASCII");
            }
        }
    }

    /** Returns whether every caller is accepted. */
    public boolean isEmpty() {
        return tokens.isEmpty();
    }

    /** Returns the number of calls refused since the start because of a missing or wrong token. */
    public long refused() {
        return refused.sum();
    }

    /**
     * Returns whether the call is a health probe, which needs no token. If the path of a call is spelled differently,
     * the call is not a health probe.
     */
    public static boolean isOpen(CallHead call) {
        return !call.isGeneric()
                && OPEN_KEY.equals(call.service())
                && OPEN_METHODS.contains(call.method())
                && call.toString().equals(OPEN_SERVICE + "/" + call.method());
    }

    /**
     * Admits or refuses a call other than {@linkplain #isOpen a health probe}.
     *
     * @param call the names of the service and the method in the caller's spelling
     * @param attachment the value of {@link #ATTACHMENT}; may be null
     * @param authorization the value of {@link #AUTHORIZATION}; may be null
     * @throws RpcException UNAUTHENTICATED if neither value contains an accepted token; the failure says that the call
     *     was not executed
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
                            ? "the call has no token, but this server requires one" + REMEDY
                            : "this server does not accept the call's token" + commaIn(attachment, bearer) + REMEDY);
        }
    }

    /**
     * Returns the failure of a call that has the same credential header more than once. A proxy in front of the server
     * may have checked only one of these headers.
     *
     * @param call the names of the service and the method in the caller's spelling
     * @param name {@link #ATTACHMENT} or {@link #AUTHORIZATION}
     */
    public RpcException doubled(String call, String name) {
        return refusal(call, "it has more than one '" + name + "'; send one");
    }

    private static String commaIn(@Nullable String attachment, @Nullable String bearer) {
        String sent = attachment == null ? bearer : attachment;
        return sent != null && sent.contains(",")
                ? ", which contains a comma, but a comma separates the tokens in rpc.server.token"
                : "";
    }

    private RpcException refusal(String call, String why) {
        refused.increment();
        return RpcException.refusal(
                StatusCode.UNAUTHENTICATED, "call of " + PeerText.name(call) + " refused: " + why, Executed.NO);
    }

    /**
     * Removes accepted tokens from the metadata, so that the service cannot pass them on. Also removes binary
     * credentials, which were never checked.
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

    private boolean isAccepted(@Nullable String candidate) {
        if (candidate == null) {
            return false;
        }
        byte[] bytes = candidate.getBytes(StandardCharsets.UTF_8);
        boolean accepted = false;
        for (Token token : tokens) { // all tokens are compared, so that the time does not reveal which token matched
            accepted |= token.matches(bytes);
        }
        return accepted;
    }
}
