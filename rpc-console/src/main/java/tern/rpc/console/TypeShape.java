package tern.rpc.console;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A type as the form of the page needs it.
 *
 * @param kind such as {@code string} or {@code list}; docs/console.md lists them
 * @param java the type as Java writes it
 * @param of the type of elements, or of the values of a map
 * @param key the type of the keys of a map
 * @param ref the name under which the fields or values of this type are listed
 */
record TypeShape(
        String kind,
        String java,
        @Nullable TypeShape of,
        @Nullable TypeShape key,
        @Nullable String ref) {

    static TypeShape scalar(String kind, String java) {
        return new TypeShape(kind, java, null, null, null);
    }

    static TypeShape any(String java) {
        return scalar("any", java);
    }

    static TypeShape list(String java, TypeShape of) {
        return new TypeShape("list", java, of, null, null);
    }

    static TypeShape map(String java, TypeShape key, TypeShape of) {
        return new TypeShape("map", java, of, key, null);
    }

    static TypeShape reference(String kind, String java, String ref) {
        return new TypeShape(kind, java, null, null, ref);
    }

    /**
     * The fields or values of a type.
     *
     * @param kind record, bean, message or enum
     * @param fields empty for an enum
     * @param values empty unless this is an enum
     */
    record Definition(String kind, String name, List<Field> fields, List<String> values) {}

    /** A field of an object. */
    record Field(String name, TypeShape type, boolean nullable) {}
}
