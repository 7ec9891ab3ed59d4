package tern.rpc.spring.autoconfigure.actuate;

import java.util.regex.Pattern;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;

/**
 * Hides tokens and addresses with a password, even if the application shows property values: under their own keys, and
 * in values that contain a whole command line or JSON document. Thread-safe.
 */
final class SecretValues implements SanitizingFunction {

    private static final String HIDDEN = "******";

    private static final String KEYS = "rpc[._](?:server|client)(?:[._][^\\s=:\"]+)?[._]token(?:[._\\[]*\\d+[]_]?)?"
            + "|rpc[._]pools[._]jedis[._]url";

    private static final Pattern KEY = Pattern.compile("(?i)" + KEYS);

    /** In a command line: up to the next argument, because a list may have spaces after its commas. */
    private static final Pattern ASSIGNED =
            Pattern.compile("(?i)((?:" + KEYS + ")\\s*[=:]\\s*).*?(?=\\s--?[\\w]|\\s@|$)", Pattern.DOTALL);

    /** In JSON, nested or flat, where it is unclear which text belongs to a token. */
    private static final Pattern JSON = Pattern.compile("(?is)^\\s*\\{.*\"rpc[\"._].*(?:token|url).*");

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
        if (JSON.matcher(text).matches()) {
            return data.withValue(HIDDEN);
        }
        if (!text.contains("rpc") && !text.contains("RPC")) {
            return data;
        }
        String hidden = ASSIGNED.matcher(text).replaceAll("$1" + HIDDEN);
        return hidden.equals(text) ? data : data.withValue(hidden);
    }
}
