package tern.rpc.load.cluster;

import java.util.HashMap;
import java.util.Map;

/** Arguments of the form {@code --name=value}. */
final class Options {

    private final Map<String, String> values = new HashMap<>();

    Options(String[] arguments) {
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (!argument.startsWith("--") || equals < 0) {
                throw new IllegalArgumentException("'" + argument + "' is not of the form --name=value");
            }
            values.put(argument.substring(2, equals), argument.substring(equals + 1));
        }
    }

    String text(String name, String absent) {
        return values.getOrDefault(name, absent);
    }

    int number(String name, int absent) {
        String value = values.get(name);
        if (value == null) {
            return absent;
        }
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + name + " is '" + value + "'; expected a whole number", e);
        }
    }
}
