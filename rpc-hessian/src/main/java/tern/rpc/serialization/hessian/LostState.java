package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.JavaSerializer;
import java.io.Externalizable;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.sql.Timestamp;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.PriorityBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once for each class whose objects lose state when they are sent in hessian2, because messages in this format
 * contain only fields, elements and entries. Java's own serialization would keep the lost state, such as the data that
 * {@code writeObject} writes. Thread-safe.
 */
final class LostState {

    private static final Logger LOG = LoggerFactory.getLogger(LostState.class);
    private static final int MAX_CLASSES = 1024;
    private static final String NATURAL_ORDER_OF_GUAVA = "com.google.common.collect.NaturalOrdering";

    private static final List<Class<?>> SORTED =
            List.of(SortedMap.class, SortedSet.class, PriorityQueue.class, PriorityBlockingQueue.class);

    /**
     * The names of the classes whose warning has been logged. Names are stored instead of classes, so that class
     * loaders can be unloaded.
     */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private LostState() {}

    /**
     * Warns if objects of the class lose state when they are sent in hessian2, for example because their method {@code
     * writeObject} is not called. Does nothing for JDK classes.
     */
    static void check(Class<?> type) {
        if (type.isInterface() || type.isEnum() || type.isRecord() || !ClassOrigin.isOfApplication(type)) {
            return;
        }
        String lost = lost(type);
        if (lost != null && isFirst(type.getName())) {
            LOG.warn("Objects of {} lose state in hessian2: {}", type.getName(), lost);
        }
    }

    private static @Nullable String lost(Class<?> type) {
        if (JavaSerializer.getWriteReplace(type) != null) {
            return null;
        }
        if (Collection.class.isAssignableFrom(type)) {
            return fieldsBeside("elements", type);
        }
        if (Map.class.isAssignableFrom(type)) {
            return fieldsBeside("entries", type);
        }
        String method = ownMethod(type);
        return method == null
                ? null
                : method + " is not called, and only fields that are neither static nor transient are sent. Keep the"
                        + " state in such fields, or send another object by writeReplace and readResolve";
    }

    /**
     * Describes the fields that are lost when an application's own collection or map is sent, because only its elements
     * are sent. Returns null if there are no such fields, or if they may contain the elements.
     */
    private static @Nullable String fieldsBeside(String what, Class<?> type) {
        if (!extendsContainerOfJdk(type)) {
            return null;
        }
        List<String> fields = BeanShape.serializedFields(type, Object.class).stream()
                .filter(field -> ClassOrigin.isOfApplication(field.getDeclaringClass()))
                // Fields that the compiler adds to anonymous classes are ignored.
                .filter(field -> !field.isSynthetic())
                .map(Field::getName)
                .toList();
        return fields.isEmpty()
                ? null
                : "only its " + what + " are sent, and its fields " + String.join(", ", fields)
                        + " are not. Send an object that has the container as a field";
    }

    private static boolean extendsContainerOfJdk(Class<?> type) {
        Class<?> of = type;
        while (ClassOrigin.isOfApplication(of)) {
            of = of.getSuperclass();
        }
        return of != Object.class && !Modifier.isAbstract(of.getModifiers());
    }

    /**
     * Returns the name of a method that Java's serialization would call to write or read an instance, for example
     * {@code writeObject}. Tern does not call this method. Returns null if the class has no such method.
     */
    private static @Nullable String ownMethod(Class<?> type) {
        if (Externalizable.class.isAssignableFrom(type)) {
            return "writeExternal";
        }
        for (Class<?> in = type; in != null && ClassOrigin.isOfApplication(in); in = in.getSuperclass()) {
            if (has(in, "writeObject", ObjectOutputStream.class)) {
                return "writeObject";
            }
            if (has(in, "readObject", ObjectInputStream.class)) {
                return "readObject";
            }
        }
        return null;
    }

    private static boolean has(Class<?> type, String name, Class<?> stream) {
        return Arrays.stream(type.getDeclaredMethods())
                .anyMatch(method -> method.getName().equals(name)
                        && Arrays.equals(method.getParameterTypes(), new Class<?>[] {stream}));
    }

    /** Returns whether collections or maps of the class may have a comparator. */
    static boolean mayBeSorted(Class<?> type) {
        return SORTED.stream().anyMatch(sorted -> sorted.isAssignableFrom(type));
    }

    /** Warns if the collection or map has a sort order that the message does not contain. */
    static void checkOrder(Object container) {
        Comparator<?> comparator = comparator(container);
        if (comparator != null
                && comparator != Comparator.naturalOrder()
                && !comparator.getClass().getName().equals(NATURAL_ORDER_OF_GUAVA)
                && isFirst(container.getClass().getName()
                        + ' '
                        + comparator.getClass().getName())) {
            LOG.warn(
                    "A {} with the comparator {} loses its order in hessian2: the comparator is not sent, and the"
                            + " receiver sorts by natural order. Send a list or a LinkedHashMap, which keep their order,"
                            + " or sort at the receiver",
                    container.getClass().getName(),
                    comparator.getClass().getName());
        }
    }

    private static @Nullable Comparator<?> comparator(Object container) {
        if (container instanceof SortedMap<?, ?> map) {
            return map.comparator();
        }
        if (container instanceof SortedSet<?> set) {
            return set.comparator();
        }
        if (container instanceof PriorityQueue<?> queue) {
            return queue.comparator();
        }
        return container instanceof PriorityBlockingQueue<?> queue ? queue.comparator() : null;
    }

    /** Warns if the date has a fraction of a millisecond, which the message does not contain. */
    static void checkTime(Date date) {
        if (date instanceof Timestamp timestamp
                && timestamp.getNanos() % 1_000_000 != 0
                && isFirst(timestamp.getClass().getName())) {
            LOG.warn(
                    "A {} loses its microseconds and nanoseconds in hessian2, because dates are sent in milliseconds."
                            + " Send a java.time.Instant or a java.time.LocalDateTime, which keep them",
                    timestamp.getClass().getName());
        }
    }

    /**
     * Warns if the calendar has another time zone than this process. The message contains no zone, so the receiver uses
     * its default.
     */
    static void checkZone(Calendar calendar) {
        TimeZone zone = calendar.getTimeZone();
        if (!zone.hasSameRules(TimeZone.getDefault())
                && isFirst(calendar.getClass().getName())) {
            LOG.warn(
                    "A {} loses its time zone {} in hessian2: the receiver uses the default zone of its process. Send a"
                            + " java.time.ZonedDateTime, which keeps its zone",
                    calendar.getClass().getName(),
                    zone.getID());
        }
    }

    private static boolean isFirst(String what) {
        return TOLD.size() < MAX_CLASSES && TOLD.add(what);
    }
}
