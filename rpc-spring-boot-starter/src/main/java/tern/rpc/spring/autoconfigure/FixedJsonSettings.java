package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Reports Spring Boot's JSON properties that apply to web endpoints but not to RPC. The peers of RPC expect a fixed
 * format.
 */
final class FixedJsonSettings {

    private static final Logger LOG = LoggerFactory.getLogger(FixedJsonSettings.class);
    private static final String PREFIX = "spring.jackson.";
    private static final String DATE_FORMAT = PREFIX + "date-format";

    /**
     * The switches of Jackson that Tern sets to a fixed value. The keys are the names of the properties below {@code
     * spring.jackson}.
     */
    static final Map<String, Boolean> SWITCHES = Collections.unmodifiableMap(new TreeMap<>(Map.ofEntries(
            Map.entry("serialization.indent-output", false),
            Map.entry("serialization.wrap-root-value", false),
            Map.entry("deserialization.unwrap-root-value", false),
            Map.entry("deserialization.fail-on-null-for-primitives", false),
            Map.entry("deserialization.fail-on-trailing-tokens", true),
            Map.entry("datatype.datetime.write-dates-as-timestamps", false),
            Map.entry("datatype.datetime.adjust-dates-to-context-time-zone", false),
            Map.entry("datatype.datetime.one-based-months", true),
            Map.entry("datatype.enum.read-enums-using-to-string", false),
            Map.entry("datatype.enum.write-enums-using-to-string", false),
            Map.entry("datatype.enum.write-enums-to-lowercase", false),
            Map.entry("datatype.enum.write-enums-using-index", false),
            Map.entry("datatype.enum.fail-on-numbers-for-enums", true),
            Map.entry("read.strict-duplicate-detection", true),
            Map.entry("write.write-bigdecimal-as-plain", true))));

    private FixedJsonSettings() {}

    static void log(Environment environment) {
        List<String> ignored = ignored(environment);
        if (!ignored.isEmpty()) {
            LOG.info(
                    "RPC does not use {}: its JSON has one format (docs/http.md, The application's JsonMapper)",
                    String.join(", ", ignored));
        }
    }

    /** Returns the properties that are set to a value other than Tern's fixed value. */
    static List<String> ignored(Environment environment) {
        Binder binder = Binder.get(environment);
        List<String> ignored = new ArrayList<>();
        if (binder.bind(DATE_FORMAT, String.class).isBound()) {
            ignored.add(DATE_FORMAT);
        }
        SWITCHES.forEach((name, fixed) -> {
            String value = binder.bind(PREFIX + name, String.class).orElse(fixed.toString());
            if (!value.trim().equalsIgnoreCase(fixed.toString())) {
                ignored.add(PREFIX + name);
            }
        });
        return ignored;
    }
}
