package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.NativeDetector;
import org.springframework.util.ClassUtils;
import tern.rpc.pool.ApplicationFields;

/**
 * Measures executors and HTTP clients that are not beans themselves, but are held in fields of application beans or of
 * their helper objects. Each of them is measured like a bean of the same type, under the name of its class and field.
 * Objects in static fields and in collections are not found.
 */
final class HeldObjects implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(HeldObjects.class);

    /** The maximum depth of the search: the number of field accesses that lead from a bean to the searched object. */
    private static final int MAX_DEPTH = 4;

    private static final int MAX_OBJECTS = 10_000;

    private final boolean isOn;
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<HeldWatch> watches;

    HeldObjects(boolean isOn, ConfigurableListableBeanFactory beans, ObjectProvider<HeldWatch> watches) {
        this.isOn = isOn;
        this.beans = beans;
        this.watches = watches;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (isOn && !NativeDetector.inNativeImage()) {
            Search search = new Search(watches.orderedStream().toList());
            search.searchBeans();
            search.measure();
            if (!search.replaced.isEmpty()) {
                LOG.info(
                        "Tern has replaced the objects in these fields by objects that measure them: {}."
                                + " rpc.pools.fields=false switches this off",
                        String.join(", ", search.replaced));
            }
        }
    }

    /** A field that contains an object. */
    private record Place(Field field, Object holder, Object value) {

        /**
         * Returns a higher number for a field that more likely belongs to the class that has created the object, because
         * objects are named after this field: such a field is usually final, and has a more specific type.
         */
        int likelihood() {
            boolean isFinal = Modifier.isFinal(field.getModifiers());
            return (isFinal ? 2 : 0) + (field.getType() == Executor.class ? 0 : 1);
        }
    }

    private final class Search {

        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

        /**
         * For each object that was found in a field, the object that measures it. Beans are not included, because they
         * are already measured.
         */
        private final Map<Object, Object> measured = new IdentityHashMap<>();

        private final List<HeldWatch> watches;
        private final List<Place> places = new ArrayList<>();
        private final List<String> replaced = new ArrayList<>();

        Search(List<HeldWatch> watches) {
            this.watches = watches;
        }

        void searchBeans() {
            List<Object> found = new ArrayList<>();
            for (String name : beans.getSingletonNames()) {
                Object bean = beans.getSingleton(name);
                if (bean != null) {
                    measured.put(bean, bean);
                    found.add(bean);
                }
                if (bean instanceof WatchedThreadPool watched) {
                    // A field of a bean may refer to the original pool instead of the object that measures it.
                    measured.put(watched.pool(), watched);
                }
            }
            for (Object bean : found) {
                Object target = AopProxyUtils.getSingletonTarget(bean);
                search(target == null ? bean : target, 0);
            }
        }

        private void search(Object holder, int depth) {
            Class<?> type = ClassUtils.getUserClass(holder);
            if (depth > MAX_DEPTH
                    || !ApplicationFields.isSearched(type)
                    || seen.size() >= MAX_OBJECTS
                    || !seen.add(holder)) {
                return;
            }
            for (Class<?> owner = type;
                    owner != null && ApplicationFields.isSearched(owner);
                    owner = owner.getSuperclass()) {
                for (Field field : ApplicationFields.of(owner)) {
                    Object value = ApplicationFields.value(field, holder);
                    if (value != null) {
                        places.add(new Place(field, holder, value));
                        search(value, depth + 1);
                    }
                }
            }
        }

        /** Measures the objects in the found fields. */
        void measure() {
            places.sort(Comparator.comparingInt(Place::likelihood).reversed());
            for (Place place : places) {
                if (isReplaceable(place.field, place.value)) {
                    Object known = measured.computeIfAbsent(place.value, value -> watched(value, place.field, watches));
                    if (known != place.value) {
                        set(place.field, place.holder, known, replaced);
                    }
                }
            }
        }
    }

    /**
     * Returns whether the field can hold an object that measures the given one. Fields of records cannot be changed. An
     * object whose class is not public gets a proxy, so the type of its field must be an interface. A Spring proxy
     * represents a bean, which is already measured.
     */
    private static boolean isReplaceable(Field field, Object value) {
        return !field.getDeclaringClass().isRecord()
                && value != ForkJoinPool.commonPool()
                && !(value instanceof SpringProxy)
                && (Modifier.isPublic(value.getClass().getModifiers())
                        || field.getType().isInterface()
                        || !(value instanceof Executor));
    }

    private static String nameOf(Field field) {
        return ClassUtils.getShortName(field.getDeclaringClass()) + "." + field.getName();
    }

    private static Object watched(Object value, Field field, List<HeldWatch> watches) {
        String name = nameOf(field);
        Object watched = value;
        try {
            for (HeldWatch watch : watches) {
                Object next = watch.postProcessAfterInitialization(watched, name);
                watched = next == null ? watched : next;
            }
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("{} is not measured", name, e);
        }
        return watched;
    }

    private static void set(Field field, Object holder, Object value, List<String> replaced) {
        try {
            field.set(holder, value);
            replaced.add(nameOf(field));
        } catch (IllegalAccessException | RuntimeException e) {
            LOG.debug("{} is not measured", field, e);
        }
    }
}
