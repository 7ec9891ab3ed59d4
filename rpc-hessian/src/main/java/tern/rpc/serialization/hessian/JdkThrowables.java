package tern.rpc.serialization.hessian;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.sql.SQLException;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * JDK exceptions that declare their own fields. The fields are set through constructors and read through getters.
 * Immutable.
 */
final class JdkThrowables {

    private static final String MESSAGE = "detailMessage";
    private static final String CAUSE = "cause";

    private static final List<Form> FORMS = List.of(
            form(
                    SQLException.class,
                    List.of(MESSAGE, "SQLState", "vendorCode"),
                    part("SQLState", String.class, SQLException::getSQLState),
                    part("vendorCode", int.class, SQLException::getErrorCode)),
            form(
                    URISyntaxException.class,
                    List.of("input", MESSAGE, "index"),
                    part("input", String.class, URISyntaxException::getInput),
                    part("index", int.class, URISyntaxException::getIndex)),
            form(
                    DateTimeParseException.class,
                    List.of(MESSAGE, "parsedString", "errorIndex"),
                    part("parsedString", CharSequence.class, DateTimeParseException::getParsedString),
                    part("errorIndex", int.class, DateTimeParseException::getErrorIndex)),
            form(
                    MissingResourceException.class,
                    List.of(MESSAGE, "className", "key"),
                    part("className", String.class, MissingResourceException::getClassName),
                    part("key", String.class, MissingResourceException::getKey)),
            form(InvocationTargetException.class, List.of(CAUSE, MESSAGE)));

    private static final Form PLAIN = form(Throwable.class, List.of(MESSAGE));

    private JdkThrowables() {}

    static Form formOf(Class<?> type) {
        return FORMS.stream()
                .filter(form -> form.type.isAssignableFrom(type))
                .findFirst()
                .orElse(PLAIN);
    }

    private static Form form(Class<? extends Throwable> type, List<String> arguments, Part... parts) {
        Map<String, Class<?>> types = new java.util.HashMap<>(Map.of(MESSAGE, String.class, CAUSE, Throwable.class));
        for (Part part : parts) {
            types.put(part.name, part.type);
        }
        try {
            Class<?>[] parameters = arguments.stream()
                    .map(types::get)
                    .map(Objects::requireNonNull)
                    .toArray(Class<?>[]::new);
            return new Form(type, type.getConstructor(parameters), arguments, List.of(parts));
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    // The cast is safe, because the getter is called only on instances of the exception class T.
    @SuppressWarnings("unchecked")
    private static <T> Part part(String name, Class<?> type, Function<T, @Nullable Object> getter) {
        return new Part(name, type, (Function<Object, @Nullable Object>) getter);
    }

    /** A field that an exception class has in addition to the fields of {@code Throwable}. */
    record Part(String name, Class<?> type, Function<Object, @Nullable Object> getter) {}

    /**
     * An exception class and the constructor that sets its fields.
     *
     * @param arguments the names of the fields that the constructor sets, in the order of its parameters
     */
    record Form(Class<?> type, Constructor<?> constructor, List<String> arguments, List<Part> parts) {

        /**
         * Returns the constructor arguments.
         *
         * @param values the values in the order of {@code parts}; surplus values at the end are ignored
         */
        Object[] arguments(ThrowableParts common, @Nullable Object[] values) {
            List<Object> all = new ArrayList<>();
            for (String argument : arguments) {
                all.add(
                        switch (argument) {
                            case MESSAGE -> common.message();
                            case CAUSE -> common.cause();
                            default -> value(argument, values);
                        });
            }
            return all.toArray();
        }

        private @Nullable Object value(String name, @Nullable Object[] values) {
            for (int i = 0; i < parts.size(); i++) {
                if (parts.get(i).name.equals(name)) {
                    return values[i] == null ? Narrowing.zero(parts.get(i).type) : values[i];
                }
            }
            throw new IllegalStateException(name);
        }
    }
}
