package tern.rpc.transport;

import tern.rpc.Metadata;

/** A token as a protocol sends it: an attachment or a header of each call. Immutable. */
public final class CallToken {

    private final String name;
    private final String value;

    private CallToken(String name, String value) {
        this.name = name;
        this.value = value;
    }

    /** Creates an attachment with the token, in the form that Dubbo's providers expect. */
    public static CallToken attachment(Token token) {
        return new CallToken(AcceptedTokens.ATTACHMENT, token.reveal());
    }

    /** Creates an authorization header with the token, in the form that HTTP servers expect. */
    public static CallToken bearer(Token token) {
        return new CallToken(AcceptedTokens.AUTHORIZATION, "Bearer " + token.reveal());
    }

    /** Adds the token to a call, unless the call already has an attachment or header with the same name. */
    public void addTo(Metadata metadata) {
        if (!metadata.contains(name)) {
            metadata.add(name, value);
        }
    }

    @Override
    public String toString() {
        return name + ": (secret)";
    }
}
