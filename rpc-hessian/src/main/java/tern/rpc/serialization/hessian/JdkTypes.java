package tern.rpc.serialization.hessian;

import java.util.Date;
import java.util.EnumMap;
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

    private JdkTypes() {}

    static boolean isReadable(Class<?> type) {
        return SCALARS.contains(type)
                || type.isEnum()
                || type == EnumMap.class
                || Throwable.class.isAssignableFrom(type)
                || JdkForms.isMade(type)
                || isContainer(type);
    }

    private static boolean isContainer(Class<?> type) {
        CollectionType collection = CollectionType.named(type.getName());
        MapType map = MapType.named(type.getName());
        return (collection != null && collection.type() == type) || (map != null && map.type() == type);
    }
}
