package tern.rpc.spring.autoconfigure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin.Location;
import org.springframework.core.io.Resource;

/**
 * An unquoted value in a YAML file whose text changes because YAML reads the value as a number or boolean. For example,
 * YAML reads 1.10 as 1.1, on as true, and 010 as 8.
 *
 * @param written the text in the file
 * @param read the number or boolean that YAML reads
 */
record YamlText(String written, Object read) {

    /**
     * Matches the end of a number or boolean in YAML. Also matches inside a list or map that is written on one line.
     */
    private static final Pattern END_OF_SCALAR = Pattern.compile("[\\s,\\]}]");

    private static final Pattern IN_ANOTHER_BASE = Pattern.compile("[-+]?(\\d[\\d_]*(:\\d+)+|0[0-7_]+)");

    /**
     * Returns the property's text in the YAML file, and the number or boolean that YAML has read. Returns null if the
     * text has not changed, or if the property's value is a string or does not come from a file.
     */
    static @Nullable YamlText changedBy(ConfigurationProperty property) {
        Object read = property.getValue();
        String written = read instanceof CharSequence ? null : written(property);
        return written == null || written.equals(read.toString()) ? null : new YamlText(written, read);
    }

    private static @Nullable String written(ConfigurationProperty property) {
        Origin origin = property.getOrigin();
        while (origin instanceof PropertySourceOrigin wrapper) {
            origin = wrapper.getOrigin();
        }
        if (!(origin instanceof TextResourceOrigin place)) {
            return null;
        }
        Resource file = place.getResource();
        Location location = place.getLocation();
        if (file == null || location == null) {
            return null;
        }
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(file.getInputStream(), StandardCharsets.UTF_8))) {
            String line = reader.lines().skip(location.getLine()).findFirst().orElse("");
            return END_OF_SCALAR.split(line.substring(Math.min(location.getColumn(), line.length())), 2)[0];
        } catch (IOException | UncheckedIOException e) {
            return null; // Spring has read the file before. If the file can no longer be read, the value is accepted.
        }
    }

    /**
     * Returns the first words of an error message, which name the kind of value that YAML has read, for example
     * {@code is not a text but a number}.
     */
    static String kind(Object read) {
        return "is not a text but a " + (read instanceof Boolean ? "boolean" : "number");
    }

    /** Returns whether YAML reads the number in base 60, as in 1:30, or in base 8, as in 010. */
    boolean isInAnotherBase() {
        return IN_ANOTHER_BASE.matcher(written).matches();
    }

    String problem() {
        return kind(read) + ", which " + difference();
    }

    String difference() {
        return "differs from the text in the file: YAML reads " + written + " as " + read;
    }

    String action() {
        return "Put the value in quotes: '" + written + "'.";
    }
}
