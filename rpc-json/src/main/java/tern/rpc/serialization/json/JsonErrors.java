package tern.rpc.serialization.json;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Thrown;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.RefusedValues;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.InvalidNullException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/**
 * Describes failures without the values that caused them, because values may be secret and failures are logged. The
 * descriptions omit Jackson's messages and causes, because these contain values.
 */
final class JsonErrors {

    /** The beginning of Jackson's message about a map with a null key. */
    private static final String NULL_KEY = "Null key for a Map";

    /** The beginning of Jackson's message about a map whose keys it cannot read. */
    private static final String NO_KEY = "Cannot find a (Map) Key deserializer";

    /** The beginning of Jackson's message about a map key that cannot be converted to the key type. */
    private static final String WRONG_KEY = "Cannot deserialize Map key";

    /** A part of Jackson's message about a number that does not fit into the declared type. */
    private static final String OUT_OF_RANGE = "out of range";

    /** The beginning of Jackson's messages about an empty or blank string where another type is declared. */
    private static final Pattern NO_CONTENT = Pattern.compile("Cannot coerce (empty|blank) String");

    /** The beginning of Jackson's messages about bytes that are not UTF-8. */
    private static final String NOT_UTF_8 = "Invalid UTF-8";

    private static final String FOUND_TOO_LARGE = ", found a number that does not fit";

    private static final int MAX_SHOWN_NAME = 64;
    private static final int MAX_SHOWN_CONSTANTS = 10;
    private static final int MAX_WRAPPERS = 64;

    /**
     * The maximum number of steps shown for a path. Longer paths are shortened. Most long paths are caused by objects
     * that refer to each other in a cycle.
     */
    private static final int MAX_SHOWN_STEPS = 16;

    /** A shortened path ends with the last {@value} steps. */
    private static final int LAST_STEPS = 2;

    /**
     * Parts of Jackson's messages about unquoted values: a word, text in single quotes, and a date or an id that begins
     * like a number.
     */
    private static final List<String> UNQUOTED =
            List.of("Unrecognized token", "Unexpected character ('''", "Expected space separating root-level values");

    /** A part of Jackson's message about the name of a property without double quotes, or in single quotes. */
    private static final String UNQUOTED_NAME = "was expecting double-quote to start";

    private static final Set<String> BOOLEANS = Set.of("boolean", "java.lang.Boolean");

    private static final Set<String> NUMBERS = Set.of(
            "byte",
            "short",
            "int",
            "long",
            "float",
            "double",
            "java.lang.Byte",
            "java.lang.Short",
            "java.lang.Integer",
            "java.lang.Long",
            "java.lang.Float",
            "java.lang.Double",
            "java.math.BigInteger",
            "java.math.BigDecimal");

    /** The classes that Jackson chooses for declared interfaces, each with its interface. */
    private static final Map<Class<?>, Class<?>> INTERFACES = Map.of(
            ArrayList.class, List.class,
            HashSet.class, Set.class,
            TreeSet.class, SortedSet.class,
            LinkedList.class, Queue.class,
            LinkedHashMap.class, Map.class,
            TreeMap.class, SortedMap.class);

    /**
     * Example values of types that are strings in JSON, because the type's name does not show the form of the string.
     */
    private static final Map<Class<?>, String> EXAMPLES = Map.ofEntries(
            Map.entry(Instant.class, "2026-01-31T12:30:00Z"),
            Map.entry(Date.class, "2026-01-31T12:30:00Z"),
            Map.entry(OffsetDateTime.class, "2026-01-31T12:30:00+01:00"),
            Map.entry(ZonedDateTime.class, "2026-01-31T12:30:00+01:00"),
            Map.entry(LocalDateTime.class, "2026-01-31T12:30:00"),
            Map.entry(LocalDate.class, "2026-01-31"),
            Map.entry(LocalTime.class, "12:30:00"),
            Map.entry(YearMonth.class, "2026-01"),
            Map.entry(Duration.class, "PT1M30S"),
            Map.entry(Period.class, "P1M15D"),
            Map.entry(ZoneId.class, "Europe/Berlin"),
            Map.entry(ZoneOffset.class, "+01:00"),
            Map.entry(UUID.class, "123e4567-e89b-12d3-a456-426614174000"),
            Map.entry(Currency.class, "EUR"),
            Map.entry(byte[].class, "AQI="));

    private JsonErrors() {}

    /** @param expected the declared type at the position; null if no value is being decoded */
    static SerializationException reading(String position, @Nullable String expected, RuntimeException failure) {
        if (failure instanceof SerializationException known) {
            return known;
        }
        String where = position + path(failure);
        if (failure instanceof MismatchedInputException mismatch) {
            return new SerializationException(where + ": " + expected(mismatch, expected));
        }
        if (failure instanceof StreamConstraintsException limit) {
            return new SerializationException(where + ": " + limit.getOriginalMessage());
        }
        if (failure instanceof StreamReadException syntax) {
            return new SerializationException(
                    where + ": " + syntax(syntax, syntax.getPath().isEmpty() ? expected : null));
        }
        return other(where, true, failure);
    }

    static SerializationException writing(String position, RuntimeException failure) {
        if (failure instanceof SerializationException known) {
            return known;
        }
        MessageTooLargeException tooLarge = Thrown.find(failure, MessageTooLargeException.class);
        if (tooLarge != null) {
            return tooLarge;
        }
        String where = position + path(failure);
        if (failure instanceof StreamConstraintsException limit) {
            return new SerializationException(where + ": " + limit.getOriginalMessage());
        }
        return other(where, false, failure);
    }

    private static String expected(MismatchedInputException mismatch, @Nullable String declared) {
        if (mismatch instanceof UnrecognizedPropertyException) {
            return "there is no such property";
        }
        Class<?> type = mismatch.getTargetType();
        if (mismatch instanceof InvalidNullException) {
            return "the value is missing or null, and " + typeName(mismatch, type, declared) + " needs one";
        }
        String message = String.valueOf(mismatch.getOriginalMessage());
        String key = message.startsWith(WRONG_KEY) ? " as the key of a map" : "";
        return "expected " + typeName(mismatch, type, declared) + key + constants(type) + example(type)
                + found(mismatch, type, message);
    }

    private static String example(@Nullable Class<?> type) {
        String example = type == null ? null : exampleOf(type);
        return example == null ? "" : (type == byte[].class ? " in base64" : "") + " such as " + example;
    }

    /**
     * If the expected type alone does not explain the mistake, returns a description of the value that was found.
     * Otherwise returns an empty string.
     */
    private static String found(MismatchedInputException mismatch, @Nullable Class<?> type, String message) {
        if (mismatch instanceof WholeNumbers.FractionException) {
            return ", found a fraction";
        }
        if (message.contains(OUT_OF_RANGE)) {
            return FOUND_TOO_LARGE;
        }
        if (mismatch instanceof PlainTimesRead.MillisecondsException) {
            return ", found a number that is too large for seconds; send a text, in JavaScript that of toISOString()";
        }
        if (NO_CONTENT.matcher(message).lookingAt()) {
            return ", found an empty text";
        }
        // If an element of a list is wrong, Jackson reports the type of the element. If Jackson reports the type of the
        // list, the text contains no JSON array at this position.
        boolean isList = type != null
                && ((type.isArray() && exampleOf(type) == null) || Collection.class.isAssignableFrom(type));
        return isList ? ", found no array" : "";
    }

    /** Returns an example of a type whose strings must have a particular form, such as a date; null for other types. */
    static @Nullable String exampleOf(Class<?> type) {
        return EXAMPLES.get(type);
    }

    /** Returns the error text for an abstract type if no annotation or setting names the class to create. */
    static String isAbstract(String typeName, boolean isSealed) {
        // A sealed type does not need @JsonSubTypes, because Jackson finds its subtypes itself.
        return typeName + " is abstract and cannot be read from JSON; "
                + (isSealed
                        ? "annotate it with @JsonTypeInfo(use = JsonTypeInfo.Id.NAME), or declare a class"
                        : "name its subtypes with @JsonTypeInfo and @JsonSubTypes, or declare a class");
    }

    /** Returns the error text for a class whose objects Jackson cannot create. */
    static String hasNoConstructor(String typeName) {
        return typeName + " has no constructor that JSON can use; annotate a constructor or a static method with"
                + " @JsonCreator, add a constructor without parameters, or declare a record";
    }

    /**
     * Returns the name of the expected type. Jackson's exception contains the class to instantiate, such as
     * {@code ArrayList}, even if the declared type is an interface. At the root of a value, this method returns the
     * declared type. Inside a value, the method returns the interface for which Jackson has chosen the class.
     */
    private static @Nullable String typeName(
            MismatchedInputException mismatch, @Nullable Class<?> type, @Nullable String declared) {
        if (type == null) {
            return declared;
        }
        Class<?> seen = INTERFACES.get(type);
        if (seen == null) {
            return type.getTypeName();
        }
        return mismatch.getPath().isEmpty() && declared != null && !declared.isEmpty() ? declared : seen.getName();
    }

    /**
     * Returns the values of an enum or a boolean, for example {@code , one of RED, GREEN}; an empty string for other
     * types.
     */
    private static String constants(@Nullable Class<?> type) {
        if (type != null && BOOLEANS.contains(type.getName())) {
            return ", true or false";
        }
        Object[] constants = type == null ? null : type.getEnumConstants();
        if (constants == null || constants.length == 0) {
            return "";
        }
        String names = Arrays.stream(constants)
                .limit(MAX_SHOWN_CONSTANTS)
                .map(constant -> ((Enum<?>) constant).name())
                .collect(Collectors.joining(", "));
        int more = constants.length - MAX_SHOWN_CONSTANTS;
        return ", one of " + names + (more > 0 ? " and " + more + " more" : "");
    }

    private static String syntax(StreamReadException failure, @Nullable String expected) {
        if (failure instanceof UnexpectedEndOfInputException) {
            return "the JSON ends too early";
        }
        String message = failure.getOriginalMessage();
        TokenStreamLocation at = failure.getLocation();
        String place = at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
        if (message.startsWith("Duplicate Object property")) {
            return "the same name twice in one object" + place;
        }
        if (failure instanceof InputCoercionException number) {
            return "expected "
                    + (number.getTargetType() != null ? number.getTargetType().getTypeName() : expected)
                    + (message.contains(OUT_OF_RANGE) ? FOUND_TOO_LARGE : "");
        }
        boolean isTyped = expected != null && !expected.isEmpty();
        if (message.startsWith(NOT_UTF_8)) {
            return "the bytes are not UTF-8" + place + "; send JSON in UTF-8";
        }
        if (message.contains(UNQUOTED_NAME)) {
            return "not JSON: expected a name in double quotes" + place + "; some shells, such as Windows PowerShell 5,"
                    + " remove the quotes, so put the JSON into a file and use --data-binary @file";
        }
        if (UNQUOTED.stream().anyMatch(message::contains)) {
            return (isTyped ? "expected " + expected + " in JSON, found" : "not JSON: found")
                    + " text without double quotes" + place + form(expected);
        }
        return "not JSON" + place + (isTyped ? "; expected " + expected + " in JSON" : "");
    }

    /** Returns a description of the JSON form of the type's values. An unknown type is described as a string. */
    private static String form(@Nullable String type) {
        if (type != null && BOOLEANS.contains(type)) {
            return "; write true or false";
        }
        return type != null && NUMBERS.contains(type)
                ? "; write a number"
                : "; write \"text\" with its quotes, in a shell '\"text\"'";
    }

    /** Returns the exception for a class that Jackson cannot handle, or for an exception thrown by application code. */
    private static SerializationException other(String where, boolean isReading, RuntimeException failure) {
        if (failure instanceof InvalidDefinitionException definition) {
            JavaType type = definition.getType();
            String message = definition.getOriginalMessage();
            // Jackson throws the same exception for types whose annotations allow JSON text to name a class. For these
            // types, the message is kept unchanged.
            boolean isUnconstructible = message.startsWith("Cannot construct instance of");
            if (type != null && type.isAbstract() && isReading && isUnconstructible && !type.isContainerType()) {
                return new SerializationException(where + ": "
                        + isAbstract(type.toCanonical(), type.getRawClass().isSealed()));
            }
            if (type != null && isReading && isUnconstructible && message.contains("no Creators")) {
                return new SerializationException(where + ": " + hasNoConstructor(type.toCanonical()));
            }
            if (type != null && message.startsWith(NO_KEY)) {
                return new SerializationException(where + ": " + type.toCanonical()
                        + " cannot be the key of a map in JSON; use keys such as a String, a number or an enum, or"
                        + " send a list");
            }
            return new SerializationException(where + ": " + message);
        }
        Throwable root = failure;
        for (int i = 0; i < MAX_WRAPPERS && root instanceof JacksonException; i++) {
            Throwable cause = Thrown.cause(root);
            if (cause == null) {
                break;
            }
            root = cause;
        }
        if (root instanceof SerializationException known) {
            return new SerializationException(where + ": " + known.getMessage());
        }
        String what = where + " could not be " + (isReading ? "read" : "written");
        if (root instanceof JacksonException jackson) {
            boolean isNullKey = String.valueOf(jackson.getOriginalMessage()).startsWith(NULL_KEY);
            return new SerializationException(what + ": "
                    + (isNullKey
                            ? "a map has a null key, which JSON does not have"
                            : root.getClass().getName()));
        }
        SerializationException withoutText =
                new SerializationException(root.getClass().getName());
        withoutText.setStackTrace(root.getStackTrace());
        return new SerializationException(what + ": " + RefusedValues.described(what, root), withoutText);
    }

    /**
     * Returns the path to the failure, for example {@code at $.lines[3].amount}; an empty string at the root. Map keys
     * are data, so they appear as {@code *}.
     */
    private static String path(RuntimeException failure) {
        if (!(failure instanceof JacksonException jackson) || jackson.getPath().isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(" at $");
        List<JacksonException.Reference> steps = jackson.getPath();
        for (int i = 0; i < steps.size(); i++) {
            if (steps.size() > MAX_SHOWN_STEPS && i == MAX_SHOWN_STEPS - LAST_STEPS) {
                i = steps.size() - LAST_STEPS;
                text.append("…");
            }
            JacksonException.Reference step = steps.get(i);
            String name = step.getPropertyName();
            if (name == null) {
                text.append('[').append(step.getIndex()).append(']');
            } else {
                text.append('.').append(step.from() instanceof Map || !isIdentifier(name) ? "*" : name);
            }
        }
        return text.toString();
    }

    private static boolean isIdentifier(String name) {
        return name.length() <= MAX_SHOWN_NAME
                && !name.isEmpty()
                && name.chars().allMatch(c -> Character.isJavaIdentifierPart(c) && !Character.isISOControl(c));
    }
}
