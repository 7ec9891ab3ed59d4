package tern.rpc.spring.autoconfigure.insight;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import tern.rpc.settings.SecretText;

/** Hides Redis addresses that contain a password, even if the application shows property values. Thread-safe. */
final class SecretAddresses implements SanitizingFunction {

    private static final String KEY = "rpc[._]pools[._]jedis[._]url";
    private static final SecretText SECRETS = new SecretText(KEY, KEY);

    @Override
    public SanitizableData apply(SanitizableData data) {
        if (SECRETS.isSecret(data.getKey())) {
            return data.withValue(SecretText.HIDDEN);
        }
        Object value = data.getValue();
        if (value == null) {
            return data;
        }
        String text = value.toString();
        String hidden = SECRETS.hide(text);
        return hidden.equals(text) ? data : data.withValue(hidden);
    }
}
