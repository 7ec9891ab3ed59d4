package tern.rpc.spring.autoconfigure.actuate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;

/**
 * Hides tokens and addresses with a password, even if the application shows property values: under their own keys, and
 * in values that contain a whole command line or JSON document. Thread-safe.
 */
final class SecretValues implements SanitizingFunction {

    private static final String HIDDEN = "******";

    private static final Pattern KEY = Pattern.compile("(?i)" + keys(Integer.MAX_VALUE));

    /**
     * In a command line: up to the next argument, because a list may have spaces after its commas. The bound of the
     * middle of a key keeps the time linear in the length of the text.
     */
    private static final Pattern ASSIGNED =
            Pattern.compile("(?i)((?:" + keys(1_000) + ")\\s*[=:]\\s*).*?(?=\\s--?[\\w]|\\s@|$)", Pattern.DOTALL);

    private static final Pattern JSON_ROOT = Pattern.compile("(?i)\"rpc[\"._]");
    private static final Pattern JSON_SECRET = Pattern.compile("(?i)token|url");

    /** @param maxMiddle the longest part between root and token, such as the name of a service */
    private static String keys(int maxMiddle) {
        return "rpc[._](?:server|client)(?:[._][^\\s=:\"]{1," + maxMiddle
                + "})?[._]token(?:[._\\[]*\\d+[]_]?)?|rpc[._]pools[._]jedis[._]url";
    }

    @Override
    public SanitizableData apply(SanitizableData data) {
        if (KEY.matcher(data.getKey()).matches()) {
            return data.withValue(HIDDEN);
        }
        Object value = data.getValue();
        if (value == null) {
            return data;
        }
        String text = value.toString();
        if (isSecretJson(text)) {
            return data.withValue(HIDDEN);
        }
        if (!text.contains("rpc") && !text.contains("RPC")) {
            return data;
        }
        String hidden = ASSIGNED.matcher(text).replaceAll("$1" + HIDDEN);
        return hidden.equals(text) ? data : data.withValue(hidden);
    }

    /** Whether the text is JSON with secrets, nested or flat, where it is unclear which text belongs to a token. */
    private static boolean isSecretJson(String text) {
        if (!text.stripLeading().startsWith("{")) {
            return false;
        }
        Matcher root = JSON_ROOT.matcher(text);
        return root.find() && JSON_SECRET.matcher(text).find(root.end());
    }
}
