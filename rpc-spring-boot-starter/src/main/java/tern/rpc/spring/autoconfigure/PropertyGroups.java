package tern.rpc.spring.autoconfigure;

import static tern.rpc.spring.autoconfigure.PropertyPaths.ANY;
import static tern.rpc.spring.autoconfigure.PropertyPaths.uniform;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * Explains two mistakes that Spring does not report. In the first, a group of properties has a value, for example
 * {@code rpc.server=20880}. Spring ignores this value. In the second, a list index takes the place of a name that the
 * application chooses, for example {@code rpc.client.services[0].url}. Spring uses the index as the name. Immutable.
 */
final class PropertyGroups {

    private static final String ADDRESS = "local|(?:[^\\s:/]+|\\[\\S+]):\\d+.*|[a-z]+://\\S+";
    private static final String TIME = "\\d+\\s?(?:ms|s|m|h|d)";
    private static final String NUMBER = "\\d+";
    private static final String FLAG = "(?i)true|false|on|off|yes|no";
    private static final String ANYTHING = ".+";

    /** Matches the text that YAML reads if no space follows the colon, as in {@code timeout:5s}. */
    private static final Pattern PAIR = Pattern.compile("([\\w-]+):(\\S+)");

    /**
     * Suggests the property that the user probably meant by giving a group a value.
     *
     * @param group the name of the group
     * @param value matches the values that indicate this property
     * @param last the last element of the suggested property
     */
    private record Guess(List<String> group, Pattern value, String last) {

        static Guess of(String group, String value, String last) {
            return new Guess(List.of(group.split("\\.")), Pattern.compile(value), last);
        }

        boolean fits(List<String> name, String text) {
            return name.size() == group.size()
                    && startsWith(group, name)
                    && value.matcher(text).matches();
        }
    }

    private static final List<Guess> GUESSES = List.of(
            Guess.of("rpc.server", NUMBER, "port"),
            Guess.of("rpc.server", FLAG, "enabled"),
            Guess.of("rpc.server.cors", "\\*|https?://.+", "allowed-origins"),
            Guess.of("rpc.server.advertise", ANYTHING, "host"),
            Guess.of("rpc.client", ADDRESS, "url"),
            Guess.of("rpc.client", TIME, "timeout"),
            Guess.of("rpc.client.services.*", ADDRESS, "url"),
            Guess.of("rpc.client.services.*", TIME, "timeout"),
            Guess.of("rpc.client.services.*.ssl", ANYTHING, "bundle"),
            Guess.of("rpc.client.services.*.methods.*", TIME, "timeout"),
            Guess.of("rpc.server.services.*.methods.*", NUMBER, "max-concurrency"),
            Guess.of("rpc.limits", "\\d+\\s?(?:B|KB|MB|GB)", "max-message"),
            Guess.of("rpc.slo", TIME, "latency"),
            Guess.of("rpc.logging", FLAG, "async"),
            Guess.of("rpc.pools", FLAG, "tuned"),
            Guess.of("rpc.pools.http", NUMBER, "max-total"),
            Guess.of("rpc.pools.jedis", ADDRESS, "url"),
            Guess.of("rpc.pools.jedis", NUMBER, "max-total"),
            Guess.of("rpc.pools.executors.*", NUMBER, "threads"));

    private final List<List<String>> paths;

    /** @param paths the elements of all property names, with {@code *} instead of elements that applications choose */
    PropertyGroups(List<List<String>> paths) {
        this.paths = List.copyOf(paths);
    }

    /**
     * Returns the text that follows the property's name in the error message, if the name is a group of properties, or
     * contains a list index where the application must choose a name. Returns null for any other name.
     */
    @Nullable
    String problem(ConfigurationPropertyName name, @Nullable Object value) {
        int length = name.getNumberOfElements();
        int index = IntStream.range(1, length)
                .filter(name::isNumericIndex)
                .findFirst()
                .orElse(length);
        List<String> group = elements(name, 0, index);
        if (!isGroup(group)) {
            return null;
        }
        return index < length
                ? ofList(group, elements(name, index + 1, length))
                : ofGroup(group, value == null ? "" : String.valueOf(value).trim());
    }

    /** Returns the given range of the name's elements, without list indexes. */
    private static List<String> elements(ConfigurationPropertyName name, int from, int to) {
        return IntStream.range(from, to)
                .filter(i -> !name.isNumericIndex(i))
                .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                .toList();
    }

    /** Returns whether there are properties below the name, but no property with exactly this name. */
    private boolean isGroup(List<String> name) {
        return below(name).findAny().isPresent() && !isProperty(name);
    }

    private boolean isProperty(List<String> name) {
        return paths.stream().anyMatch(path -> path.size() == name.size() && startsWith(path, name));
    }

    private Stream<List<String>> below(List<String> group) {
        return paths.stream().filter(path -> path.size() > group.size() && startsWith(path, group));
    }

    private static boolean startsWith(List<String> path, List<String> name) {
        return IntStream.range(0, name.size())
                .allMatch(i -> path.get(i).equals(ANY) || uniform(path.get(i)).equals(uniform(name.get(i))));
    }

    private String ofList(List<String> group, List<String> rest) {
        boolean isNamed = isNamed(group);
        List<String> place = new ArrayList<>(group);
        if (isNamed) {
            place.add(placeholder(group));
        }
        List<String> meant = Stream.concat(place.stream(), rest.stream()).toList();
        return "is an element of a list, but " + PropertyPaths.joined(group) + " is not a list; "
                + (isNamed ? "write a name instead of the number" : "leave out the number") + ", as in "
                + (isProperty(meant) ? PropertyPaths.joined(meant) : example(place));
    }

    private String ofGroup(List<String> group, String value) {
        String name = PropertyPaths.joined(group);
        if (value.isEmpty()) {
            return "is a group of properties, but no property is below it; indent the properties that belong to it, or"
                    + " remove it";
        }
        String problem = "is a group of properties and has no value itself; ";
        String advice = PropertyIntents.adviceFor(group);
        if (advice != null) {
            return problem + advice;
        }
        Matcher pair = PAIR.matcher(value);
        if (!isNamed(group) && pair.matches() && isProperty(with(group, pair.group(1)))) {
            return problem + "in YAML, a space follows the colon: write '" + pair.group(1) + ": " + pair.group(2) + "'";
        }
        String whole = withName(group);
        if (whole != null) {
            return problem + "did you mean " + whole + "?";
        }
        String guess = GUESSES.stream()
                .filter(each -> each.fits(group, value))
                .map(each -> name + "." + each.last())
                .findFirst()
                .orElse(null);
        if (guess != null) {
            return problem + "did you mean " + guess + "?";
        }
        List<String> names =
                below(group).map(path -> path.get(group.size())).distinct().toList();
        return problem
                + (isNamed(group)
                        ? "the level below it is a name, as in " + example(group)
                        : "the names below " + name + " are " + String.join(", ", names));
    }

    /**
     * Returns the properties that the user probably meant if the name of a service is missing, for example {@code
     * rpc.client.services.timeout}. Spring drops an asterisk, so {@code rpc.client.services.*.timeout} has the same
     * form. Returns null for any other name.
     */
    private @Nullable String withName(List<String> group) {
        int last = group.size() - 1;
        List<String> place = group.subList(0, last);
        List<String> ofOne = new ArrayList<>(place);
        ofOne.add(placeholder(place));
        ofOne.add(group.get(last));
        if (!isNamed(place) || !isProperty(ofOne)) {
            return null;
        }
        List<String> ofAll = new ArrayList<>(place.subList(0, last - 1));
        ofAll.add(group.get(last));
        return (isProperty(ofAll) ? PropertyPaths.joined(ofAll) + " or " : "") + PropertyPaths.joined(ofOne);
    }

    private static List<String> with(List<String> group, String element) {
        List<String> longer = new ArrayList<>(group);
        longer.add(element);
        return longer;
    }

    /** Returns whether the application chooses the names directly below the group. */
    private boolean isNamed(List<String> group) {
        return below(group).anyMatch(path -> path.get(group.size()).equals(ANY));
    }

    /** Returns the first property in the group. */
    private String example(List<String> group) {
        List<String> path = below(group).findFirst().orElse(group);
        List<String> longer = new ArrayList<>(group);
        for (String element : path.subList(group.size(), path.size())) {
            longer.add(element.equals(ANY) ? placeholder(longer) : element);
        }
        return PropertyPaths.joined(longer);
    }

    /** Returns the placeholder that messages contain for a name that the application chooses below the group. */
    private static String placeholder(List<String> group) {
        return group.get(group.size() - 1).equals("methods") ? "<method>" : "<name>";
    }
}
