package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import tern.rpc.TypingErrors;

/**
 * Compares and changes the elements of property names. The path of an existing property contains {@link #ANY} instead
 * of each key of a map.
 */
final class PropertyPaths {

    static final String ANY = "*";

    private PropertyPaths() {}

    /** Returns the number of typing errors between the written name and the path. */
    static int distance(List<String> path, List<String> written) {
        return IntStream.range(0, path.size())
                .map(i -> distance(path.get(i), written.get(i)))
                .sum();
    }

    /** Returns whether the written element differs from the existing element by at most a few typing errors. */
    static boolean near(String element, String written) {
        int length = uniform(element).length();
        return distance(element, written) <= (length < 3 ? 0 : length < 6 ? 1 : 2);
    }

    private static int distance(String element, String written) {
        return element.equals(ANY) ? 0 : TypingErrors.between(uniform(element), uniform(written));
    }

    /**
     * Returns true if neither the element at the index nor the next element is a map key. The application chooses map
     * keys, and Tern defines all other elements.
     */
    static boolean isOfTern(List<String> path, int index) {
        return !path.get(index).equals(ANY) && !path.get(index + 1).equals(ANY);
    }

    /** Returns a copy of the elements without the element at the index. */
    static List<String> without(int index, List<String> elements) {
        return concat(elements.subList(0, index), elements.subList(index + 1, elements.size()));
    }

    /** Returns a copy of {@code elements}, with the path's element inserted at the index. */
    static List<String> inserted(int index, List<String> path, List<String> elements) {
        List<String> longer = new ArrayList<>(elements);
        longer.add(index, path.get(index));
        return longer;
    }

    /**
     * Returns whether a name with these elements matches the path. Both lists must have the same number of elements.
     */
    static boolean fits(List<String> path, List<String> elements) {
        return IntStream.range(0, path.size())
                .allMatch(i -> path.get(i).equals(ANY) || uniform(path.get(i)).equals(uniform(elements.get(i))));
    }

    /** Returns the elements of both lists in one list. */
    static List<String> concat(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    /** Returns the path with elements of the given name in place of the map keys. */
    static List<String> filled(List<String> path, List<String> like) {
        return IntStream.range(0, path.size())
                .mapToObj(i -> path.get(i).equals(ANY) ? like.get(i) : path.get(i))
                .toList();
    }

    /** Returns whether the written name begins with the given elements and continues after them. */
    static boolean startsWith(List<String> written, String... elements) {
        return written.size() > elements.length
                && IntStream.range(0, elements.length)
                        .allMatch(i -> uniform(written.get(i)).equals(elements[i]));
    }

    static String lastOf(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** Returns the elements of the name, without list indexes. */
    static List<String> elements(ConfigurationPropertyName name) {
        int length = name.getNumberOfElements()
                - (name.isLastElementIndexed() && name.isNumericIndex(name.getNumberOfElements() - 1) ? 1 : 0);
        return IntStream.range(0, length)
                .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                .toList();
    }

    /** Joins elements to a property name. An element that contains dots is put in brackets. */
    static String joined(List<String> elements) {
        StringBuilder name = new StringBuilder();
        for (String element : elements) {
            if (element.contains(".")) {
                name.append('[').append(element).append(']');
            } else {
                name.append(name.isEmpty() ? "" : ".").append(element);
            }
        }
        return name.toString();
    }

    static String uniform(String element) {
        return element.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }
}
