package tern.rpc.endpoint;

/**
 * The token that a provider publishes in a registry and requires in every call. Tern providers never publish a token.
 * Clients send the token only to the provider that has published it.
 *
 * @param text the token, which must not appear in logs or reports
 */
public record PublishedToken(String text) {

    private static final int MAX_LENGTH = 256;

    /**
     * Returns whether the text can be sent as a header: it is not too long and consists of visible ASCII characters.
     */
    public static boolean isUsable(String text) {
        return !text.isEmpty()
                && text.length() <= MAX_LENGTH
                && text.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }

    @Override
    public String toString() {
        return "(secret)";
    }
}
