package tern.rpc.transport;

import tern.rpc.Metadata;

/** A token as one protocol carries it: an attachment or a header that goes along with every call. Immutable. */
public final class CallToken {

    private final String name;
    private final String value;

    private CallToken(String name, String value) {
        this.name = name;
        this.value = value;
    }

    /** As Dubbo's providers expect it. */
    public static CallToken attachment(Token token) {
        return new CallToken(AcceptedTokens.ATTACHMENT, token.reveal());
    }

    /** As servers of HTTP expect it. */
    public static CallToken bearer(Token token) {
        return new CallToken(AcceptedTokens.AUTHORIZATION, "Bearer " + token.reveal());
    }

    /** Goes along with a call, unless the call has a value of its own under that name. */
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
