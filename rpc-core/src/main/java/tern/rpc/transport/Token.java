package tern.rpc.transport;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A secret that callers show to say who they are. Its text is in no message and no log. Immutable. */
public final class Token {

    private final String text;
    private final byte[] bytes;

    private Token(String text) {
        this.text = text;
        this.bytes = text.getBytes(StandardCharsets.UTF_8);
    }

    /** @param text any; whether it can be used is asked later, so that no failure shows it */
    public static Token of(String text) {
        return new Token(text);
    }

    /** Whether it can travel in a header: one character or more, all of them visible ASCII. */
    public boolean isUsable() {
        return !text.isEmpty() && text.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }

    /** For whoever sends it. */
    public String reveal() {
        return text;
    }

    /** Whether the text is this very one; takes as long whatever they have in common. */
    boolean matches(byte[] shown) {
        return MessageDigest.isEqual(shown, bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Token token && token.matches(bytes);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "(secret)";
    }
}
