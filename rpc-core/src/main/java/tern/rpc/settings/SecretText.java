package tern.rpc.settings;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the values of secret properties in command lines and JSON documents. A property's name determines whether it is
 * secret. Thread-safe.
 */
public final class SecretText {

    public static final String HIDDEN = "******";

    private static final Pattern JSON_ROOT = Pattern.compile("(?i)\"rpc[\"._]");
    private static final Pattern JSON_SECRET = Pattern.compile("(?i)token|url");

    private final Pattern key;
    private final Pattern assigned;

    /**
     * @param keys a regular expression for the secret keys, in any spelling
     * @param boundedKeys the same expression with bounded repetitions, so that the matching time is linear in the text
     *     length
     */
    public SecretText(String keys, String boundedKeys) {
        this.key = Pattern.compile("(?i)" + keys);
        // In a command line, a value ends only where the next argument begins. A space does not end the value, because
        // a list may contain spaces after its commas.
        this.assigned =
                Pattern.compile("(?i)((?:" + boundedKeys + ")\\s*[=:]\\s*).*?(?=\\s--?[\\w]|\\s@|$)", Pattern.DOTALL);
    }

    /** Returns whether the value of the property with the given name is a secret. */
    public boolean isSecret(String name) {
        return key.matcher(name).matches();
    }

    /** Returns the text with its secrets replaced by {@link #HIDDEN}, or the same object if it contains no secrets. */
    public String hide(String text) {
        if (isSecretJson(text)) {
            return HIDDEN;
        }
        if (!text.contains("rpc") && !text.contains("RPC")) {
            return text;
        }
        return assigned.matcher(text).replaceAll("$1" + Matcher.quoteReplacement(HIDDEN));
    }

    /**
     * Returns whether the text is JSON that contains secrets. The caller then hides the whole text, because it is not
     * certain where a secret ends.
     */
    private static boolean isSecretJson(String text) {
        if (!text.stripLeading().startsWith("{")) {
            return false;
        }
        Matcher root = JSON_ROOT.matcher(text);
        return root.find() && JSON_SECRET.matcher(text).find(root.end());
    }
}
