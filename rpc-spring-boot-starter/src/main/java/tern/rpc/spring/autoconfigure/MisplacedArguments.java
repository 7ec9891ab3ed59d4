package tern.rpc.spring.autoconfigure;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/**
 * Warns about command-line arguments that set Tern properties in a form that Spring does not read, such as {@code java
 * -jar app.jar -Drpc.server.port=1}, or that set a property more than once. Spring reads only arguments that begin with
 * two hyphens. Without a warning, the application would silently use a different value.
 */
final class MisplacedArguments {

    private static final Logger LOG = LoggerFactory.getLogger(MisplacedArguments.class);

    /** The bean that contains the command line, in applications that {@code SpringApplication} starts. */
    private static final String ARGUMENTS = "springApplicationArguments";

    /**
     * Matches a property without two hyphens before it. Before the property, there can be {@code -D}, one hyphen, a
     * dash or nothing.
     */
    private static final Pattern PROPERTY = Pattern.compile("(?!--)[^\\w]{0,2}D?(rpc\\.[\\w.\\[\\]-]+)[=:].*");

    private MisplacedArguments() {}

    /** Warns if the argument is the name of a property and the next argument is probably the property's value. */
    private static void warnOfSpace(String argument, KnownProperties known) {
        if (argument.startsWith("--rpc.")
                && argument.indexOf('=') < 0
                && known.contains(ConfigurationPropertyName.adapt(argument.substring(2), '.'))) {
            LOG.warn("The argument {} has no value; write {}=…, with = in place of the space", argument, argument);
        }
    }

    /**
     * Warns about properties that the command line sets more than once. The last argument does not override the others,
     * as it does for many other programs, because Spring joins the values.
     */
    private static void warnOfRepeated(String[] arguments, KnownProperties known) {
        Set<String> names = new HashSet<>();
        Set<String> repeated = new TreeSet<>();
        for (String argument : arguments) {
            int end = argument.indexOf('=');
            if (argument.startsWith("--rpc.") && end > 0 && !names.add(argument.substring(0, end))) {
                repeated.add(argument.substring(0, end));
            }
        }
        for (String argument : repeated) {
            if (known.contains(ConfigurationPropertyName.adapt(argument.substring(2), '.'))) {
                LOG.warn(
                        "The argument {}=… occurs more than once, and Spring joins the values with commas; keep the"
                                + " argument whose value counts, or write a list into one argument",
                        argument);
            }
        }
    }

    /** Logs one warning for each argument. The warning does not show the value, because it might be a token. */
    static void warn(ConfigurableListableBeanFactory beans, KnownProperties known) {
        if (beans.getSingleton(ARGUMENTS) instanceof ApplicationArguments arguments) {
            String[] all = arguments.getSourceArgs();
            warnOfRepeated(all, known);
            for (int i = 0; i < all.length; i++) {
                String argument = all[i];
                if (i + 1 < all.length && !all[i + 1].startsWith("-")) {
                    warnOfSpace(argument, known);
                }
                Matcher property = PROPERTY.matcher(argument);
                if (property.matches() && known.contains(ConfigurationPropertyName.adapt(property.group(1), '.'))) {
                    LOG.warn(
                            "The argument {}{}=… is not read as a property; after the jar or the main class, write"
                                    + " --{}=…; put -D before -jar",
                            argument.substring(0, property.start(1)),
                            property.group(1),
                            property.group(1));
                }
            }
        }
    }
}
