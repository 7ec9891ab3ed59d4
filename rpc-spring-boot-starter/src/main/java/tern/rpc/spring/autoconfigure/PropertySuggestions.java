package tern.rpc.spring.autoconfigure;

import static tern.rpc.spring.autoconfigure.PropertyPaths.ANY;
import static tern.rpc.spring.autoconfigure.PropertyPaths.concat;
import static tern.rpc.spring.autoconfigure.PropertyPaths.distance;
import static tern.rpc.spring.autoconfigure.PropertyPaths.elements;
import static tern.rpc.spring.autoconfigure.PropertyPaths.filled;
import static tern.rpc.spring.autoconfigure.PropertyPaths.fits;
import static tern.rpc.spring.autoconfigure.PropertyPaths.inserted;
import static tern.rpc.spring.autoconfigure.PropertyPaths.isOfTern;
import static tern.rpc.spring.autoconfigure.PropertyPaths.joined;
import static tern.rpc.spring.autoconfigure.PropertyPaths.lastOf;
import static tern.rpc.spring.autoconfigure.PropertyPaths.near;
import static tern.rpc.spring.autoconfigure.PropertyPaths.startsWith;
import static tern.rpc.spring.autoconfigure.PropertyPaths.uniform;
import static tern.rpc.spring.autoconfigure.PropertyPaths.without;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import tern.rpc.TypingErrors;

/**
 * Suggests an existing property for a property that does not exist. A wrong suggestion is worse than no suggestion,
 * because people follow it. Therefore, the meaning of the name is examined first ({@link PropertyIntents}). A property
 * with a similar name is suggested only if the difference is a typing error, or if the name has one level too few or
 * too many. If there is no suggestion, lists the existing names on the same level. Immutable.
 */
final class PropertySuggestions {

    private static final String LIST = "; docs/properties.md lists all properties";

    /**
     * The minimum length of a correct name, such as {@code retries}, for which typing errors are recognized. In shorter
     * names, an apparent typing error may be a different word.
     */
    private static final int MIN_GUESS = 6;

    /** The maximum number of properties that one suggestion names. */
    private static final int MAX_NAMED = 3;

    /**
     * Last elements that people append by mistake to the name of an existing property, for example {@code
     * rpc.client.registry.address}.
     */
    private static final Set<String> VALUES = Set.of("address", "addresses", "url", "urls", "uri", "value", "values");

    /** The names that people use instead of {@code services}. */
    private static final Set<String> OTHER_SERVICES =
            Set.of("references", "reference", "stubs", "config", "configs", "clients", "channels", "interfaces");

    /** The names that people insert where a property applies to all services. */
    private static final Set<String> OF_ALL = Set.of("default", "defaults", "common", "global");

    /**
     * The last elements of property names whose meaning depends on the level, such as {@code enabled}. If an unknown
     * property ends with one of these elements, no property on another level is suggested.
     */
    private static final Set<String> GENERAL = Set.of("enabled", "level", "name");

    /** Server properties without a client property of the same meaning. */
    private static final Set<String> ONLY_OF_SERVERS = Set.of(
            "port",
            "address",
            "enabled",
            "threads",
            "max-concurrency",
            "queue-capacity",
            "max-queue-wait",
            "idle-timeout",
            "shutdown-timeout");

    private final KnownProperties known;
    private final List<List<String>> paths;
    private final PropertyGroups groups;

    PropertySuggestions(KnownProperties known) {
        this.known = known;
        paths = known.names().stream().map(name -> List.of(name.split("\\."))).toList();
        groups = new PropertyGroups(paths);
    }

    /**
     * Returns the text that follows the name of a property in the error message about a property that cannot be set,
     * such as {@code does not exist; did you mean rpc.server.port?}
     *
     * @param value the value of the property, if it is known
     */
    String problem(ConfigurationPropertyName name, @Nullable Object value) {
        // In services.orders.methods.timeout, the last element is a misplaced property and not the name of a method.
        boolean isMisplaced = inOtherPlace(elements(name)) != null;
        String ofGroup = isMisplaced ? null : groups.problem(name, value);
        return ofGroup == null ? "does not exist; " + about(name, value) : ofGroup;
    }

    /**
     * Returns advice on a property that does not exist.
     *
     * @param value the value of the property, if it is known
     */
    String about(ConfigurationPropertyName name, @Nullable Object value) {
        List<String> written = elements(name);
        List<Supplier<@Nullable String>> rules = List.of(
                () -> PropertyIntents.adviceFor(written),
                () -> ofGuessedGroup(written, PropertyIntents::adviceFor),
                () -> didYouMean(ofAllServices(written)),
                () -> didYouMean(belowServices(written)),
                () -> ForeignProperties.insteadOfTls(name),
                () -> DubboOptions.insteadOf(written),
                () -> switchItself(written, value),
                () -> valueItself(written),
                () -> didYouMean(misspelt(name)),
                () -> didYouMean(ofMethod(written)),
                () -> ofOtherSide(written),
                () -> didYouMean(inOtherPlace(written)),
                () -> didYouMean(known.shortened(name)),
                () -> ofWholeClient(written),
                () -> DubboOptions.ofRegistry(written),
                () -> withoutSurplusLevel(written),
                () -> withMissingLevel(written),
                () -> didYouMean(withSameLastElement(written)),
                () -> ofGuessedGroup(written, DubboOptions::insteadOf),
                () -> ofProperty(written),
                () -> ofMisspeltGuess(written));
        String advice = firstOf(rules);
        return advice == null ? namesLike(written) : advice;
    }

    private static @Nullable String didYouMean(@Nullable String suggestion) {
        return suggestion == null ? null : "did you mean " + suggestion + "?";
    }

    /**
     * Returns the suggestion for a property below {@code rpc} that has none of Tern's prefixes. Such a property might
     * belong to the application. Returns null if there is no suggestion.
     */
    @Nullable
    String aboutOther(ConfigurationPropertyName name) {
        List<String> written = elements(name);
        boolean isDoubled = written.size() > 1 && uniform(written.get(1)).equals("rpc");
        List<Supplier<@Nullable String>> rules = List.of(
                () -> didYouMean(misspelt(name)),
                () -> didYouMean(belowServices(withRoot(written))),
                () -> didYouMean(withMissingDots(written)),
                () -> isDoubled ? didYouMean(existing(without(1, written))) : null,
                () -> withMissingLevel(written));
        return firstOf(rules);
    }

    private static @Nullable String firstOf(List<Supplier<@Nullable String>> rules) {
        return rules.stream()
                .map(Supplier::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the property whose name differs only in its dots and dashes, for example for {@code rpc.server-port};
     * null if there is no such property.
     */
    private @Nullable String withMissingDots(List<String> written) {
        String letters = uniform(String.join("", written));
        return paths.stream()
                .filter(path ->
                        !path.contains(ANY) && uniform(String.join("", path)).equals(letters))
                .findFirst()
                .map(PropertyPaths::joined)
                .orElse(null);
    }

    /**
     * Returns the elements with {@code client} or {@code server} in place of a second element that has a typing error.
     */
    private static List<String> withRoot(List<String> written) {
        List<String> corrected = new ArrayList<>(written);
        for (String root : List.of("client", "server")) {
            if (written.size() > 1 && near(root, written.get(1))) {
                corrected.set(1, root);
            }
        }
        return corrected;
    }

    /**
     * Returns the property whose name differs from this name only by typing errors; null if there is no such property.
     */
    @Nullable
    String misspelt(ConfigurationPropertyName name) {
        List<String> written = elements(name);
        return paths.stream()
                .filter(path -> path.size() == written.size()
                        && !path.get(path.size() - 1).equals(ANY))
                .filter(path -> IntStream.range(0, path.size()).allMatch(i -> near(path.get(i), written.get(i))))
                .min(Comparator.<List<String>>comparingInt(path -> distance(path, written))
                        .thenComparingInt(path -> TypingErrors.between(joined(path), joined(written))))
                .map(path -> joined(filled(path, written)))
                .orElse(null);
    }

    /** Returns the property of the whole client or server, if the name's third element means "all services". */
    private @Nullable String ofAllServices(List<String> written) {
        return written.size() > 3 && OF_ALL.contains(uniform(written.get(2))) ? existing(without(2, written)) : null;
    }

    /** Returns the property with {@code services} inserted, if the third element is probably the name of a service. */
    private @Nullable String belowServices(List<String> written) {
        if (written.size() < 4 || !(startsWith(written, "rpc", "client") || startsWith(written, "rpc", "server"))) {
            return null;
        }
        String third = written.get(2);
        if (paths.stream().anyMatch(path -> path.get(1).equals(written.get(1)) && near(path.get(2), third))) {
            return null;
        }
        int from = OTHER_SERVICES.contains(uniform(third)) ? 3 : 2;
        List<String> rest = new ArrayList<>(written.subList(from, written.size()));
        if (uniform(third).equals("methods")) {
            rest.add(0, "<name>");
        }
        return Stream.of(written.get(1), "client")
                .map(side -> existing(concat(List.of("rpc", side, "services"), rest)))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns the advice for a property {@code X.enabled} if X itself is a boolean property. */
    private @Nullable String switchItself(List<String> written, @Nullable Object value) {
        List<String> parent = written.subList(0, written.size() - 1);
        String leaf = uniform(written.get(written.size() - 1));
        String spelled = existing(parent);
        if (spelled == null || !leaf.equals("enabled") || !isSwitch(parent)) {
            return null;
        }
        String text = String.valueOf(value).toLowerCase(Locale.ROOT);
        String example = text.equals("true") || text.equals("false") ? ": " + spelled + "=" + text : "";
        return "the switch is " + spelled + " itself" + example;
    }

    private boolean isSwitch(List<String> elements) {
        Class<?> type = known.typeOf(ConfigurationPropertyName.adapt(joined(elements), '.'));
        return type == boolean.class || type == Boolean.class;
    }

    /** Returns the advice for a property such as {@code X.address} if the value belongs to the property X. */
    private @Nullable String valueItself(List<String> written) {
        String spelled = existing(written.subList(0, written.size() - 1));
        return spelled != null && VALUES.contains(uniform(written.get(written.size() - 1)))
                ? "the value belongs to " + spelled + " itself"
                : null;
    }

    /**
     * Returns the advice for a guessed name that people use as a group, for example {@code
     * rpc.client.retry.max-attempts} or {@code rpc.server.tls.bundle}. Returns null if there is no advice.
     */
    private @Nullable String ofGuessedGroup(List<String> written, Function<List<String>, @Nullable String> table) {
        return IntStream.iterate(written.size() - 1, length -> length > 2, length -> length - 1)
                .mapToObj(length -> written.subList(0, length))
                .filter(group -> namesBelow(group, group.size()).isEmpty() && existing(group) == null)
                .map(table)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns the advice for a name below a property, for example {@code rpc.server.threads.max}. */
    private @Nullable String ofProperty(List<String> written) {
        String spelled = existing(written.subList(0, written.size() - 1));
        return spelled == null ? null : "the value belongs to " + spelled + " itself";
    }

    /** Returns the advice for a guessed name that also has a typing error, for example {@code rpc.client.retires}. */
    private static @Nullable String ofMisspeltGuess(List<String> written) {
        return Stream.concat(PropertyIntents.ALL.stream(), DubboOptions.ALL.stream())
                .flatMap(intent -> intent.leaves().stream())
                .filter(leaf -> leaf.length() >= MIN_GUESS
                        && TypingErrors.between(leaf, uniform(written.get(written.size() - 1))) == 1)
                .map(leaf -> concat(written.subList(0, written.size() - 1), List.of(leaf)))
                .map(corrected -> {
                    String advice = PropertyIntents.adviceFor(corrected);
                    return advice == null ? DubboOptions.insteadOf(corrected) : advice;
                })
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the property of a method if the name lacks {@code methods}. The name of the method can be missing too.
     */
    private @Nullable String ofMethod(List<String> written) {
        if (written.size() < 5 || !written.get(2).equals("services")) {
            return null;
        }
        String leaf = written.get(written.size() - 1);
        String last = written.get(written.size() - 2);
        boolean isMethod = written.size() == 6 && Character.isLowerCase(last.charAt(0)) && !last.equals("methods");
        if (!isMethod && written.size() != 5) {
            return null;
        }
        List<String> inserted = new ArrayList<>(written.subList(0, 4));
        inserted.addAll(List.of("methods", isMethod ? last : "<method>", leaf));
        return existing(inserted);
    }

    /** Returns the advice for a server property under {@code rpc.client} if clients have no such property. */
    private @Nullable String ofOtherSide(List<String> written) {
        if (!startsWith(written, "rpc", "client")) {
            return null;
        }
        List<String> inserted = new ArrayList<>(written);
        inserted.set(1, "server");
        String other = existing(inserted);
        return other != null && ONLY_OF_SERVERS.contains(lastOf(other))
                ? "clients have no such setting; " + other + " is a setting of the server"
                : null;
    }

    /**
     * Returns the property with the same meaning at a different level: for the client instead of the server, for the
     * server instead of the client, or for a whole service instead of its methods. Returns null if there is no such
     * property.
     */
    private @Nullable String inOtherPlace(List<String> written) {
        List<List<String>> candidates = new ArrayList<>();
        if (startsWith(written, "rpc", "server") || startsWith(written, "rpc", "client")) {
            List<String> swapped = new ArrayList<>(written);
            swapped.set(1, written.get(1).equals("server") ? "client" : "server");
            candidates.add(swapped);
        }
        int last = written.size() - 1;
        if (last > 1 && written.get(last - 1).equals("methods")) {
            List<String> shorter = new ArrayList<>(written);
            shorter.remove(last - 1);
            candidates.add(shorter);
        }
        return candidates.stream()
                .map(this::existing)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns the advice for a service's property if the property exists only for the whole client or server. */
    private @Nullable String ofWholeClient(List<String> written) {
        if (written.size() < 5 || !written.get(2).equals("services")) {
            return null;
        }
        String leaf = written.get(written.size() - 1);
        String whole = existing(List.of(written.get(0), written.get(1), leaf));
        return whole == null || leaf.equals("enabled")
                ? null
                : "one service has no such setting; " + whole + " applies to all";
    }

    /**
     * Returns a property whose last element equals the last element of the given property. Searches only the properties
     * of services and methods, and the limits, which exist for both clients and servers. Other properties with the same
     * last element are unrelated.
     */
    private @Nullable String withSameLastElement(List<String> written) {
        List<String> leaf = written.subList(written.size() - 1, written.size());
        List<List<String>> places = new ArrayList<>();
        if (startsWith(written, "rpc", "client") && written.size() == 3) {
            places.add(List.of("rpc", "client", "services", "<name>"));
            places.add(List.of("rpc", "client", "services", "<name>", "methods", "<method>"));
        }
        places.add(List.of("rpc", "limits"));
        return places.stream()
                .map(place -> existing(concat(place, leaf)))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the property that results if one element is left out, for example {@code
     * rpc.server.http.cors.allowed-origins}. The last two elements are never left out, because the second-to-last
     * element determines the meaning of the last element. Returns null if there is no such property.
     */
    private @Nullable String withoutSurplusLevel(List<String> written) {
        return IntStream.range(1, written.size() - 2)
                .mapToObj(i -> without(i, written))
                .flatMap(shorter -> paths.stream()
                        .filter(path -> path.size() == shorter.size()
                                && !path.get(path.size() - 2).equals(ANY)
                                && fits(path, shorter))
                        .map(path -> joined(filled(path, shorter))))
                .findFirst()
                .map(PropertySuggestions::didYouMean)
                .orElse(null);
    }

    /**
     * Returns the properties that differ from the name only by one missing element, for example
     * {@code rpc.server.client-auth}, {@code rpc.port} or {@code rpc.token}. Returns null if there is no such property.
     */
    private @Nullable String withMissingLevel(List<String> written) {
        if (written.size() > 2 && GENERAL.contains(uniform(written.get(written.size() - 1)))) {
            return null;
        }
        List<String> found = paths.stream()
                .filter(path -> path.size() == written.size() + 1)
                .flatMap(path -> IntStream.range(1, path.size() - 1)
                        .filter(i -> isOfTern(path, i) && fits(without(i, path), written))
                        .mapToObj(i -> joined(inserted(i, path, filled(without(i, path), written)))))
                .distinct()
                .toList();
        return found.isEmpty() || found.size() > MAX_NAMED ? null : didYouMean(String.join(" or ", found));
    }

    /**
     * Lists the existing names at the level of the unknown property. If some names share a word with the unknown
     * property, lists only these names.
     */
    private String namesLike(List<String> written) {
        int depth = written.size() - 1;
        while (depth > 1 && namesBelow(written, depth).isEmpty()) {
            depth--;
        }
        List<String> names = namesBelow(written, depth);
        String place = joined(written.subList(0, depth));
        String next = written.get(depth);
        for (String word : next.split("-")) {
            List<String> like = names.stream()
                    .filter(name -> Arrays.stream(name.split("-")).anyMatch(part -> isSameWord(part, word)))
                    .toList();
            if (!like.isEmpty() && like.size() < names.size()) {
                return "below " + place + ", these names contain '" + word.toLowerCase(Locale.ROOT) + "': "
                        + String.join(", ", like) + LIST;
            }
        }
        return "the names below " + place + " are " + String.join(", ", names) + LIST;
    }

    private List<String> namesBelow(List<String> written, int depth) {
        return paths.stream()
                .filter(path -> path.size() > depth)
                .filter(path -> IntStream.range(0, depth)
                        .allMatch(i ->
                                path.get(i).equals(ANY) || uniform(path.get(i)).equals(uniform(written.get(i)))))
                .map(path -> path.get(depth).equals(ANY) ? "<name>" : path.get(depth))
                .distinct()
                .toList();
    }

    private static boolean isSameWord(String part, String word) {
        String other = word.toLowerCase(Locale.ROOT);
        return part.equals(other) || part.equals(other + "s") || other.equals(part + "s");
    }

    private @Nullable String existing(List<String> elements) {
        return paths.stream()
                .filter(path -> path.size() == elements.size() && fits(path, elements))
                .findFirst()
                .map(path -> joined(filled(path, elements)))
                .orElse(null);
    }
}
