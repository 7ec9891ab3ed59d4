package tern.rpc.serialization.hessian;

import java.util.Collection;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Determines which concrete JDK classes may be read at a position whose declared type is a JDK type. */
final class JdkTypes {

    /** The types that have their own encoding in the Hessian grammar. */
    private static final Set<Class<?>> SCALARS = Set.of(
            Boolean.class,
            Byte.class,
            Character.class,
            Short.class,
            Integer.class,
            Long.class,
            Float.class,
            Double.class,
            String.class,
            Date.class);

    /** Packages whose types usually represent a resource of this process, such as a file, a connection or a lock. */
    private static final List<String> LOCAL_PACKAGES = List.of(
            "java.io.",
            "java.lang.invoke.",
            "java.lang.module.",
            "java.lang.ref.",
            "java.lang.reflect.",
            "java.net.",
            "java.nio.",
            "java.sql.",
            "java.text.",
            "java.util.concurrent.locks.",
            "java.util.stream.",
            "javax.sql.");

    private static final Set<String> LOCAL = Set.of(
            "java.lang.Process",
            "java.lang.ProcessHandle",
            "java.time.Clock",
            "java.util.Enumeration",
            "java.util.Iterator",
            "java.util.ListIterator",
            "java.util.PrimitiveIterator",
            "java.util.ResourceBundle",
            "java.util.Spliterator",
            "java.util.TimeZone",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Executor",
            "java.util.concurrent.ExecutorService",
            "java.util.concurrent.Flow$Publisher",
            "java.util.concurrent.Flow$Subscriber",
            "java.util.concurrent.Future");

    /** The types that cannot be sent, each with the type to send instead. */
    private static final Map<String, String> REPLACEMENTS = Map.ofEntries(
            Map.entry("java.io.File", "java.lang.String or byte[]"),
            Map.entry("java.lang.Class", "java.lang.String"),
            Map.entry("java.net.InetAddress", "java.lang.String"),
            Map.entry("java.net.InetSocketAddress", "java.lang.String"),
            Map.entry("java.net.URL", "java.net.URI"),
            Map.entry("java.nio.ByteBuffer", "byte[]"),
            Map.entry("java.nio.file.Path", "java.lang.String or byte[]"),
            Map.entry("java.time.Clock", "java.time.Instant"),
            Map.entry("java.util.OptionalDouble", "java.lang.Double, which may be null"),
            Map.entry("java.util.OptionalInt", "java.lang.Integer, which may be null"),
            Map.entry("java.util.OptionalLong", "java.lang.Long, which may be null"),
            Map.entry("java.util.SimpleTimeZone", "java.time.ZoneId"),
            Map.entry("java.util.TimeZone", "java.time.ZoneId"),
            Map.entry("java.util.regex.Pattern", "java.lang.String"));

    private static final String FUNCTIONS = "java.util.function.";
    private static final Set<String> FUNCTIONAL =
            Set.of("java.lang.Runnable", "java.util.Comparator", "java.util.concurrent.Callable");

    private JdkTypes() {}

    /** Returns a type that can be sent instead of the given type or of its nearest supertype, for error messages. */
    static String replacement(Class<?> type) {
        if (type.getName().startsWith(FUNCTIONS) || FUNCTIONAL.contains(type.getName())) {
            return "the values themselves, because a function exists only in its process";
        }
        String known = nearest(type);
        return known == null ? "a simpler one, such as String" : known;
    }

    private static @Nullable String nearest(Class<?> type) {
        String found = replacement(type.getName());
        Class<?> superclass = type.getSuperclass();
        if (found == null && superclass != null) {
            found = nearest(superclass);
        }
        for (Class<?> parent : type.getInterfaces()) {
            if (found == null) {
                found = nearest(parent);
            }
        }
        return found;
    }

    /** Returns a type that can be sent instead of the class with the given name; null if no such type is known. */
    static @Nullable String replacement(String name) {
        return REPLACEMENTS.get(name);
    }

    static boolean isReadable(Class<?> type) {
        return SCALARS.contains(type)
                || type.isEnum()
                || type == EnumMap.class
                || Throwable.class.isAssignableFrom(type)
                || JdkForms.isMade(type)
                || isContainer(type);
    }

    /**
     * Returns whether the values of a JDK type can never be sent, because the type represents a local resource. Returns
     * false for collections, maps and supertypes of JDK classes that can be sent.
     */
    static boolean isAlwaysLocal(Class<?> type) {
        return (LOCAL_PACKAGES.stream().anyMatch(type.getName()::startsWith) || LOCAL.contains(type.getName()))
                && SCALARS.stream().noneMatch(type::isAssignableFrom)
                && JdkForms.made().stream().noneMatch(type::isAssignableFrom)
                && !Collection.class.isAssignableFrom(type)
                && !Map.class.isAssignableFrom(type);
    }

    private static boolean isContainer(Class<?> type) {
        CollectionType collection = CollectionType.named(type.getName());
        MapType map = MapType.named(type.getName());
        return (collection != null && collection.type() == type) || (map != null && map.type() == type);
    }
}
