package tern.rpc.transport;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A secret that identifies callers. Its text appears neither in error messages nor in logs. Immutable. */
public final class Token {

    private final String text;
    private final byte[] bytes;

    private Token(String text) {
        this.text = text;
        this.bytes = text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * @param text any text; {@link #isUsable} checks it later, so that no exception contains it. White space around the
     *     text, such as the line break at the end of a secret's file, is not part of the token.
     */
    public static Token of(String text) {
        return new Token(text.strip());
    }

    /**
     * Returns whether the token can be sent in a header: it must have at least one character, and all characters must
     * be visible ASCII.
     */
    public boolean isUsable() {
        return !text.isEmpty() && text.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }

    /** Returns the token's text. Use this method only to send the token. */
    public String reveal() {
        return text;
    }

    /**
     * Returns whether the given text equals the token. The time that the comparison takes does not reveal how many
     * characters match.
     */
    boolean matches(byte[] candidate) {
        return MessageDigest.isEqual(candidate, bytes);
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
