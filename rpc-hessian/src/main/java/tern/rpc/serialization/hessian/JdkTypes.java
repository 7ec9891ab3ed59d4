package tern.rpc.serialization.hessian;

import java.util.Collection;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Decides which concrete JDK classes may be read at a position whose declared type is a JDK type. */
final class JdkTypes {

    /** The types for which the Hessian grammar defines a separate encoding. */
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

    /** Packages of types that usually represent a resource of this process, such as a file, a connection or a lock. */
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

    /** The keys are types that cannot be sent. The values are types to send instead. */
    private static final Map<String, String> REPLACEMENTS = Map.of(
            "java.io.File", "java.lang.String or byte[]",
            "java.net.InetAddress", "java.lang.String",
            "java.net.URL", "java.net.URI",
            "java.nio.ByteBuffer", "byte[]",
            "java.nio.file.Path", "java.lang.String or byte[]",
            "java.time.Clock", "java.time.Instant",
            "java.util.SimpleTimeZone", "java.time.ZoneId",
            "java.util.TimeZone", "java.time.ZoneId",
            "java.util.regex.Pattern", "java.lang.String");

    private JdkTypes() {}

    /** Returns the name of a type that can be sent instead of the given type, for error messages. */
    static String replacement(Class<?> type) {
        return REPLACEMENTS.getOrDefault(type.getName(), "a simpler one, such as String");
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
     * Returns whether the values of a JDK type can never be sent, because the type represents a local resource. A type
     * can be sent if it is a supertype of a JDK class that can be sent, or a collection or map.
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
