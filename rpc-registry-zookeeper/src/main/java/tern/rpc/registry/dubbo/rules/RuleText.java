package tern.rpc.registry.dubbo.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;
import tern.rpc.registry.dubbo.Limits;

/**
 * An object in a rule's YAML. Parsing creates only maps, lists, strings, numbers and other scalars. Values of an
 * unexpected type and unsupported keys are rejected, because a rule that is applied only in part could send calls to
 * the wrong providers.
 */
final class RuleText {

    private static final int MAX_DEPTH = 10;

    private final Map<String, @Nullable Object> values;

    private RuleText(Map<String, @Nullable Object> values) {
        this.values = values;
    }

    /**
     * Parses a rule's YAML.
     *
     * @throws IllegalArgumentException if the text is too long or is not a YAML object
     */
    static RuleText parse(String yaml) {
        LoaderOptions options = new LoaderOptions();
        options.setCodePointLimit(Limits.MAX_ENTRY);
        options.setNestingDepthLimit(MAX_DEPTH);
        options.setMaxAliasesForCollections(0);
        options.setAllowDuplicateKeys(false);
        try {
            return of(new Yaml(new SafeConstructor(options)).load(yaml), "the rule");
        } catch (YAMLException e) {
            throw new IllegalArgumentException("it is not YAML: " + Limits.shown(String.valueOf(e.getMessage())), e);
        }
    }

    private static RuleText of(@Nullable Object value, String what) {
        if (!(value instanceof Map<?, ?> map)) {
            throw new IllegalArgumentException(what + " is not an object");
        }
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        map.forEach((key, each) -> values.put(String.valueOf(key), each));
        return new RuleText(values);
    }

    /**
     * Checks that the object contains only the given keys.
     *
     * @throws IllegalArgumentException if the object contains another key
     */
    RuleText allow(String... keys) {
        for (String key : values.keySet()) {
            if (!Set.of(keys).contains(key)) {
                throw new IllegalArgumentException("'" + Limits.shown(key) + "' is not understood");
            }
        }
        return this;
    }

    boolean has(String key) {
        return values.get(key) != null;
    }

    Set<String> keys() {
        return values.keySet();
    }

    /** Returns a scalar as a string. Returns {@code defaultValue} if the key is missing. */
    String text(String key, String defaultValue) {
        Object value = values.get(key);
        return value == null ? defaultValue : scalar(key, value);
    }

    private static String scalar(String key, @Nullable Object value) {
        if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        throw new IllegalArgumentException("'" + Limits.shown(key) + "' is not a text");
    }

    boolean flag(String key, boolean defaultValue) {
        String text = text(key, String.valueOf(defaultValue));
        if (text.equals("true") || text.equals("false")) {
            return Boolean.parseBoolean(text);
        }
        throw new IllegalArgumentException(
                "'" + Limits.shown(key) + "' is " + Limits.shown(text) + ", neither true nor false");
    }

    /**
     * Returns the key's value as an integer.
     *
     * @throws IllegalArgumentException if the value is not between {@code least} and {@code most}
     */
    int number(String key, int least, int most) {
        String text = text(key, "");
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The exception that is thrown after this block reports the invalid number.
        }
        throw new IllegalArgumentException("'" + Limits.shown(key) + "' is " + Limits.shown(text)
                + "; expected a number from " + least + " to " + most);
    }

    /** Returns the strings in the list under this key. Returns an empty list if the key is missing. */
    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        list(key).forEach(each -> texts.add(scalar(key, each)));
        return texts;
    }

    /** Returns the objects in the list under this key. Returns an empty list if the key is missing. */
    List<RuleText> objects(String key) {
        List<RuleText> objects = new ArrayList<>();
        list(key).forEach(each -> objects.add(of(each, "an element of '" + key + "'")));
        return objects;
    }

    /** Returns whether all elements of the list under this key are strings. */
    boolean hasTexts(String key) {
        return list(key).stream().allMatch(String.class::isInstance);
    }

    private List<?> list(String key) {
        Object value = values.get(key);
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list) {
            return list;
        }
        throw new IllegalArgumentException("'" + key + "' is not a list");
    }

    RuleText object(String key) {
        return of(values.get(key), "'" + key + "'");
    }

    /**
     * Checks a rule's top-level keys and its version.
     *
     * @param keys the keys of this kind of rule, in addition to the keys common to all kinds
     */
    RuleText allowHead(String... keys) {
        List<String> all = new ArrayList<>(List.of(keys));
        all.addAll(List.of("configVersion", "scope", "key", "enabled", "priority", "runtime", "force"));
        allow(all.toArray(String[]::new));
        String version = text("configVersion", "v3.0");
        if (!List.of("v2.7", "v3.0", "v3.1").contains(version)) {
            throw new IllegalArgumentException("configVersion " + Limits.shown(version) + " is not understood");
        }
        return this;
    }
}
