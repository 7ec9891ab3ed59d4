package tern.rpc.spring.autoconfigure;

import static tern.rpc.spring.autoconfigure.PropertyPaths.ANY;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;
import org.springframework.util.Assert;

/** The names of Tern's properties, read from the records that the properties are bound to. Immutable. */
final class KnownProperties {

    /**
     * The record classes that properties are bound to. The record classes of the insight starter are included if the
     * application uses that starter.
     */
    static final List<Class<? extends Record>> TYPES = Stream.of(
                    RpcServerProperties.class.getName(),
                    RpcClientProperties.class.getName(),
                    RpcRegistryProperties.class.getName(),
                    RpcLimitsProperties.class.getName(),
                    RpcSloProperties.class.getName(),
                    RpcConsoleProperties.class.getName(),
                    "tern.rpc.spring.autoconfigure.pool.RpcPoolsProperties",
                    "tern.rpc.spring.autoconfigure.pool.RpcLoggingProperties",
                    "tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisProperties")
            .<Class<? extends Record>>flatMap(KnownProperties::load)
            .toList();

    /**
     * A pattern for property names.
     *
     * @param path the elements of the names; {@link PropertyPaths#ANY} matches any name
     * @param type the type of the value, or of the elements of a list
     */
    private record Pattern(List<String> path, boolean list, Class<?> type) {

        boolean matches(ConfigurationPropertyName name) {
            int length = name.getNumberOfElements();
            boolean indexed = list && length == path.size() + 1 && name.isLastElementIndexed();
            return (indexed || length == path.size())
                    && IntStream.range(0, path.size()).allMatch(i -> matches(path.get(i), name, i));
        }

        /** An index such as {@code [0]} in {@code services[0].url} is not a name that the application has chosen. */
        private static boolean matches(String element, ConfigurationPropertyName name, int index) {
            return element.equals(ANY)
                    ? !name.isNumericIndex(index)
                    : uniform(element).equals(name.getElement(index, Form.UNIFORM));
        }

        /**
         * Returns whether the pattern matches a property name derived from an environment variable. In such a name,
         * each dash has been removed or replaced with a dot.
         */
        boolean matchesLoosely(ConfigurationPropertyName name) {
            String regex = path.stream()
                    .map(element -> element.equals(ANY) ? ".+" : uniform(element))
                    .collect(Collectors.joining());
            return joined(name).matches(list ? regex + "\\d*" : regex);
        }

        private static String joined(ConfigurationPropertyName name) {
            return IntStream.range(0, name.getNumberOfElements())
                    .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                    .collect(Collectors.joining());
        }

        /**
         * Returns the property that an environment variable sets. The given name is the property name that Spring
         * derives from the variable. The name of a variable does not preserve the separators between the words of a
         * service's or method's name, so the result contains these words without separators. Returns null if the given
         * name does not match this pattern.
         */
        @Nullable
        String joinedName(ConfigurationPropertyName name) {
            String regex = path.stream()
                    .map(element -> element.equals(ANY) ? "(.+)" : spaced(element))
                    .collect(Collectors.joining("\\."));
            String written = IntStream.range(0, name.getNumberOfElements())
                    // A number in the middle belongs to the name of a service or method, as in
                    // RPC_CLIENT_SERVICES_ORDER_2_TIMEOUT.
                    .filter(i -> i < name.getNumberOfElements() - 1 || !name.isNumericIndex(i))
                    .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                    .collect(Collectors.joining("."));
            Matcher matcher = java.util.regex.Pattern.compile(regex).matcher(written);
            if (!path.contains(ANY) || endsWithAnyName() || !matcher.matches()) {
                return null;
            }
            List<String> elements = new ArrayList<>();
            int group = 0;
            for (String element : path) {
                elements.add(element.equals(ANY) ? matcher.group(++group).replace(".", "") : element);
            }
            String index = list && name.isLastElementIndexed() ? "[" + name.getLastElement(Form.UNIFORM) + "]" : "";
            return String.join(".", elements) + index;
        }

        /**
         * Returns a regular expression for the element. In the matched name, each dash in the element can be missing or
         * replaced with a dot.
         */
        private static String spaced(String element) {
            return element.toLowerCase(Locale.ROOT).replace("-", "\\.?");
        }

        /**
         * Returns whether the application chooses the last path element. A path element that the application chooses
         * gives no hint about the intended property.
         */
        boolean endsWithAnyName() {
            return path.get(path.size() - 1).equals(ANY);
        }

        /**
         * Replaces a dotted name within the property name, such as a full interface name, with the dashed form of its
         * last element. Returns null if the rest of the property name does not match this pattern.
         */
        @Nullable
        String shortened(ConfigurationPropertyName name) {
            String regex = path.stream()
                    .map(element -> element.equals(ANY) ? "(.+)" : uniform(element))
                    .collect(Collectors.joining("\\."));
            int count = name.getNumberOfElements() - (list && name.isLastElementIndexed() ? 1 : 0);
            String uniform = IntStream.range(0, count)
                    // The dots are removed, because an element in brackets can contain dots.
                    .mapToObj(i -> name.getElement(i, Form.UNIFORM).replace(".", ""))
                    .collect(Collectors.joining("."));
            Matcher matcher = java.util.regex.Pattern.compile(regex).matcher(uniform);
            if (!path.contains(ANY) || endsWithAnyName() || !matcher.matches()) {
                return null;
            }
            List<String> elements = new ArrayList<>();
            int index = 0;
            int group = 0;
            for (String element : path) {
                int length = element.equals(ANY) ? elementsIn(matcher.group(++group)) : 1;
                index += length;
                String last = name.getElement(index - 1, Form.ORIGINAL);
                elements.add(
                        length > 1 ? DataObjectPropertyName.toDashedForm(last) : element.equals(ANY) ? last : element);
            }
            return String.join(".", elements);
        }

        private static int elementsIn(String name) {
            return name.split("\\.").length;
        }
    }

    private final List<String> roots = new ArrayList<>();
    private final List<Pattern> patterns = new ArrayList<>();

    KnownProperties() {
        for (Class<? extends Record> type : TYPES) {
            ConfigurationProperties annotation = type.getAnnotation(ConfigurationProperties.class);
            Assert.state(annotation != null, () -> type + " has no root");
            roots.add(annotation.value());
            addAll(List.of(annotation.value().split("\\.")), type);
        }
    }

    private static Stream<Class<? extends Record>> load(String name) {
        try {
            return Stream.of(Class.forName(name, false, KnownProperties.class.getClassLoader())
                    .asSubclass(Record.class));
        } catch (ClassNotFoundException e) {
            return Stream.empty();
        }
    }

    private void addAll(List<String> prefix, Class<?> type) {
        for (RecordComponent component : type.getRecordComponents()) {
            add(
                    with(prefix, DataObjectPropertyName.toDashedForm(component.getName())),
                    ResolvableType.forType(component.getGenericType()));
        }
    }

    private void add(List<String> path, ResolvableType type) {
        Class<?> raw = type.toClass();
        if (raw == Map.class) {
            add(with(path, ANY), type.getGeneric(1));
        } else if (raw.isRecord()) {
            addAll(path, raw);
        } else {
            boolean list = raw == List.class;
            patterns.add(new Pattern(path, list, list ? type.getGeneric(0).toClass() : raw));
        }
    }

    private static List<String> with(List<String> path, String element) {
        List<String> longer = new ArrayList<>(path);
        longer.add(element);
        return List.copyOf(longer);
    }

    private static String uniform(String element) {
        return element.toLowerCase(Locale.ROOT).replace("-", "");
    }

    /** Returns the prefixes of all Tern properties. */
    List<ConfigurationPropertyName> roots() {
        return roots.stream().map(ConfigurationPropertyName::of).toList();
    }

    boolean contains(ConfigurationPropertyName name) {
        return patterns.stream().anyMatch(pattern -> pattern.matches(name));
    }

    /** Returns the type of the property's value, or of the elements of its list; null if the property is unknown. */
    @Nullable
    Class<?> typeOf(ConfigurationPropertyName name) {
        return patterns.stream()
                .filter(pattern -> pattern.matches(name))
                .findFirst()
                .<Class<?>>map(Pattern::type)
                .orElse(null);
    }

    /** Returns whether a property name derived from an environment variable is known. */
    boolean containsVariable(ConfigurationPropertyName name) {
        return contains(name) || patterns.stream().anyMatch(pattern -> pattern.matchesLoosely(name));
    }

    /**
     * Returns the property that an environment variable sets for a service or method whose name has several words.
     * Returns null if Spring itself recognizes the variable's name as a property, or if no property matches.
     */
    @Nullable
    String joinedName(ConfigurationPropertyName name) {
        if (contains(name)) {
            return null;
        }
        return patterns.stream()
                // The longest pattern is tried first, because a shorter pattern would treat "methods" as part of a
                // name.
                .sorted(Comparator.comparingInt(
                        (Pattern pattern) -> -pattern.path().size()))
                .map(pattern -> pattern.joinedName(name))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the known property for a name that contains an interface's full name instead of its simple name. Returns
     * null if the name does not contain a full interface name.
     */
    @Nullable
    String shortened(ConfigurationPropertyName name) {
        return patterns.stream()
                // The longest pattern is tried first, because a shorter pattern would treat "methods" as part of a
                // name.
                .sorted(Comparator.comparingInt(
                        (Pattern pattern) -> -pattern.path().size()))
                .map(pattern -> pattern.shortened(name))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns all property names, with {@code *} in place of path elements chosen by applications. */
    List<String> names() {
        return patterns.stream()
                .map(pattern -> String.join(".", pattern.path()))
                .toList();
    }
}
