package tern.rpc.transport;

import tern.rpc.Metadata;

/** A token as one protocol sends it: an attachment or a header of every call. Immutable. */
public final class CallToken {

    private final String name;
    private final String value;

    private CallToken(String name, String value) {
        this.name = name;
        this.value = value;
    }

    /** Creates the attachment that Dubbo's providers expect. */
    public static CallToken attachment(Token token) {
        return new CallToken(AcceptedTokens.ATTACHMENT, token.reveal());
    }

    /** Creates the header that HTTP servers expect. */
    public static CallToken bearer(Token token) {
        return new CallToken(AcceptedTokens.AUTHORIZATION, "Bearer " + token.reveal());
    }

    /** Adds the token to a call, unless the call has an attachment or header with this name. */
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
