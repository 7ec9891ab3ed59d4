package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.unit.DataSize;

/**
 * Explains a startup that failed because a property value cannot be parsed as a time, a size, a number, a flag or an
 * enum constant. Spring Boot's own description does not show the expected form, and shows the name of an internal
 * class.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnitFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("rpc");

    private static final String WHOLE = "a whole number";
    private static final String FLAG = "true or false";

    private static final Map<Class<?>, String> EXPECTED = Map.of(
            Duration.class, "a duration: a whole number with one of the units ms, s, m, h and d, such as 500ms or 3s",
            DataSize.class, "a data size: a whole number with one of the units B, KB, MB and GB, such as 8MB",
            int.class, WHOLE,
            Integer.class, WHOLE,
            long.class, WHOLE,
            Long.class, WHOLE,
            double.class, "a number such as 0.5",
            Double.class, "a number such as 0.5",
            boolean.class, FLAG,
            Boolean.class, FLAG);

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        ConfigurationProperty property = cause.getProperty();
        Class<?> type = cause.getTarget().getType().resolve();
        String expected = type == null ? null : expected(type);
        if (expected == null || property == null || !OURS.isAncestorOf(property.getName())) {
            return null;
        }
        String value = String.valueOf(property.getValue());
        return new FailureAnalysis(
                property.getName() + " is '" + value.strip() + "'"
                        + (value.equals(value.strip()) ? "" : " with white space before or after it") + "; expected "
                        + expected + UnknownPropertyCheck.origin(property) + ".",
                value.equals(value.strip())
                        ? "Correct the value of " + property.getName() + ", or leave the property out."
                        : "Remove the white space. In a .properties file, it is part of the value. In YAML, a value"
                                + " after | or > ends with a line break: write the value after the colon.",
                cause);
    }

    private static @Nullable String expected(Class<?> type) {
        return type.isEnum() ? words(type) : EXPECTED.get(type);
    }

    /** Returns the words in the form that the documentation uses, such as {@code caller-runs}. */
    private static String words(Class<?> type) {
        List<String> words = Stream.of(type.getEnumConstants())
                .map(constant ->
                        ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
        int last = words.size() - 1;
        return String.join(", ", words.subList(0, last)) + " or " + words.get(last);
    }
}
