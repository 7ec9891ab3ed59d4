package tern.rpc.spring.autoconfigure.actuate;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import tern.rpc.settings.SecretText;

/**
 * Hides tokens, and hides addresses that contain a password, even if the application shows property values.
 * Thread-safe.
 */
final class SecretValues implements SanitizingFunction {

    private static final SecretText SECRETS = new SecretText(keys(Integer.MAX_VALUE), keys(1_000));

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

    /**
     * @param maxMiddle the maximum number of characters between the property prefix and {@code token}, for example the
     *     number of characters of a service's name
     */
    private static String keys(int maxMiddle) {
        return "rpc[._](?:server|client)(?:[._][^\\s=:\"]{1," + maxMiddle
                + "})?[._]token(?:[._\\[]*\\d+[]_]?)?|rpc[._]pools[._]jedis[._]url";
    }
}
