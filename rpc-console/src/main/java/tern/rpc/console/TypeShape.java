package tern.rpc.console;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The description of a type. The page uses it to create the fields of its form.
 *
 * @param kind the kind of value, such as {@code string} or {@code list}; docs/console.md lists all kinds
 * @param java the type in Java syntax; for protobuf, the message name or the field type
 * @param of the type of a list's elements or a map's values
 * @param key the type of a map's keys
 * @param ref the name of the {@link Definition} that lists this type's fields or enum values
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
     * The fields or enum values of a type.
     *
     * @param kind {@code record}, {@code bean}, {@code message} or {@code enum}
     * @param fields the fields; empty for an enum
     * @param values the names of an enum's constants; empty for all other kinds
     */
    record Definition(String kind, String name, List<Field> fields, List<String> values) {}

    /** A field of a record, a bean or a message. */
    record Field(String name, TypeShape type, boolean nullable) {}
}
