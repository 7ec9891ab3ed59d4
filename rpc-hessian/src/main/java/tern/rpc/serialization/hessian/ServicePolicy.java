package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.SerializationException;

/**
 * Decides whether a class is allowed at a position in the messages of one service. A class name is checked before the
 * class is loaded. Benchmarks extend this class to measure the cost of the checks. Thread-safe.
 */
class ServicePolicy implements ReadableTypes {

    private static final Logger log = LoggerFactory.getLogger(ServicePolicy.class);
    private static final int MAX_CACHE = 1024;

    /** The class name that Hessian writers use for {@code new Object()}. */
    private static final String BARE_OBJECT = "object";

    /**
     * Matches the names of exceptions in the JDK and its extensions. Any other exception class is loaded only if it
     * belongs to a package of the service or is in the configured list.
     */
    private static final Pattern STANDARD_EXCEPTION = Pattern.compile(
            "(java|javax|jakarta)(\\.[a-z]\\w*)+\\.([A-Z]\\w*\\$)*([A-Z]\\w*)?(Exception|Error|Throwable)");

    private final ServiceDescriptor service;
    private final Map<String, Class<?>> listed;
    private final ClassPatterns configured;
    private final Map<String, Class<?>> aliases;
    private final Set<String> packages = new HashSet<>();
    private final boolean audit;
    private final Shapes shapes;

    /** Finds classes by name. Receives only names that have passed the name check. */
    private final NamedClasses named;

    private final Set<String> audited = ConcurrentHashMap.newKeySet();

    ServicePolicy(
            ServiceDescriptor service,
            ClassPatterns configured,
            Map<String, Class<?>> aliases,
            boolean audit,
            Shapes shapes) {
        this.service = service;
        this.configured = configured;
        this.aliases = aliases;
        this.audit = audit;
        this.shapes = shapes;
        Class<?> own = service.type();
        this.named =
                new NamedClasses(service.classLoader(), own == null ? ServiceDescriptor.class : own, NanoClock.SYSTEM);
        this.listed = AllowedClasses.of(service);
        listed.values().forEach(LostState::check);
        packages.addAll(configured.packages());
        packages.add(service.packageName());
        for (Class<?> type : listed.values()) {
            if (ClassOrigin.isOfApplication(type)) {
                packages.add(type.getPackageName());
            }
        }
    }

    @Override
    public Shape shape(String name, Slot slot) {
        Shape form = JdkForms.find(name, slot);
        if (form == null) {
            Class<?> type = admit(name, slot);
            form = shapes.of(type == slot.type.raw() ? slot.type : TypeRef.of(type));
        }
        if (!form.isReplaced() && !slot.raw.isAssignableFrom(form.type)) {
            throw slot.mismatch(form.type.getName());
        }
        return form;
    }

    @Override
    public @Nullable Shape throwableShape(String name) {
        Class<?> type = listed(name);
        if (type == null && (isExceptionName(name) || configured.matches(name))) {
            type = load(name);
        }
        return type != null && Throwable.class.isAssignableFrom(type) ? shapes.of(TypeRef.of(type)) : null;
    }

    @Override
    public CollectionType collection(String name, Slot slot) {
        CollectionType known = CollectionType.named(name);
        if (known == null && !isCreatedHere(name, slot)) {
            known = CollectionType.replacement(slot.raw);
        }
        return known != null ? known : shapes.collection(admit(name, slot), slot);
    }

    @Override
    public CollectionType collection(Slot slot) {
        return shapes.collection(slot.raw, slot);
    }

    @Override
    public MapType map(String name, Slot slot) {
        MapType known = MapType.named(name);
        if (known == null && !isCreatedHere(name, slot)) {
            known = MapType.replacement(slot.raw);
        }
        return known != null ? known : shapes.map(admit(name, slot), slot);
    }

    @Override
    public MapType map(Slot slot) {
        return shapes.map(slot.raw, slot);
    }

    @Override
    public Class<?> component(String name, Slot slot) {
        Class<?> known = ArrayTypes.component(name);
        return known != null ? known : admit(name, slot);
    }

    @Override
    public Class<?> enumClass(String name) {
        Class<?> type = listed(name);
        if (type == null && configured.matches(name)) {
            type = load(name);
        }
        if (type == null || !type.isEnum()) {
            throw refusal(name, "the elements of an EnumSet");
        }
        return type;
    }

    /**
     * Returns whether a collection or map of the given class may be created at the position. Other collections and
     * maps, such as Hibernate's lists, are read as JDK types without loading their classes.
     */
    private boolean isCreatedHere(String name, Slot slot) {
        return listed(name) != null || isTrusted(name, slot);
    }

    /**
     * Returns whether the class, or a class or interface that it extends, belongs to the service or is in the
     * configured list. If so, a peer may be able to make this process create instances of the class.
     */
    boolean isOfService(Class<?> type) {
        String name = type.getName();
        if (ClassOrigin.isOfApplication(type) && (configured.matches(name) || isInPackages(name))) {
            return true;
        }
        Class<?> superclass = type.getSuperclass();
        return (superclass != null && isOfService(superclass))
                || Arrays.stream(type.getInterfaces()).anyMatch(this::isOfService);
    }

    /**
     * Returns whether an exception class is available to callers of the service. The class is available to them if it
     * belongs to a package of the service, if the configuration allows it, or if a method declares the class or one of
     * its superclasses. Declared superclasses from the JDK do not count.
     */
    boolean isKnownException(Class<?> type) {
        String name = type.getName();
        return listed(name) != null
                || configured.matches(name)
                || isInPackages(name)
                || service.methods().stream()
                        .flatMap(method -> method.exceptions().stream())
                        .anyMatch(declared -> ClassOrigin.isOfApplication(declared) && declared.isAssignableFrom(type));
    }

    private Class<?> admit(String name, Slot slot) {
        Class<?> known = listed(name);
        if (known != null) {
            return known;
        }
        boolean isTrusted = isTrusted(name, slot);
        Class<?> type = isTrusted ? load(name) : null;
        if (isTrusted && type == null) {
            throw missing(name, slot);
        }
        if (type != null
                && isData(type)
                && (configured.matches(name)
                        || slot.raw.isAssignableFrom(type)
                        || Replacements.mayStandFor(slot.raw, type))) {
            return type;
        }
        return audited(name, slot);
    }

    private @Nullable Class<?> listed(String name) {
        Class<?> known = listed.get(name);
        if (known == null) {
            known = aliases.get(name);
        }
        if (known == null) {
            known = JdkEnums.find(name);
        }
        return known != null ? known : enumOfBody(name);
    }

    /**
     * Finds the enum for a class name such as {@code Color$1}. For an enum constant with a body, some writers send the
     * name of the constant's own class.
     */
    private @Nullable Class<?> enumOfBody(String name) {
        int dollar = name.lastIndexOf('$');
        if (dollar < 0 || !name.substring(dollar + 1).chars().allMatch(Character::isDigit)) {
            return null;
        }
        Class<?> outer = listed.get(name.substring(0, dollar));
        return outer != null && outer.isEnum() ? outer : null;
    }

    /** Decides from the class name alone whether the class may be loaded. */
    private boolean isTrusted(String name, Slot slot) {
        if (configured.matches(name)) {
            return true;
        }
        if (Throwable.class.isAssignableFrom(slot.raw)) {
            return isExceptionName(name);
        }
        return slot.own && isInPackages(name);
    }

    private boolean isExceptionName(String name) {
        return STANDARD_EXCEPTION.matcher(name).matches() || isInPackages(name);
    }

    private boolean isInPackages(String name) {
        String own = ClassOrigin.packageOf(name);
        while (!packages.contains(own)) {
            if (own.isEmpty()) {
                return false;
            }
            own = ClassOrigin.packageOf(own);
        }
        return !own.isEmpty() || name.indexOf('.') < 0;
    }

    private static boolean isData(Class<?> type) {
        return Serializable.class.isAssignableFrom(type)
                && !type.isInterface()
                && !Modifier.isAbstract(type.getModifiers())
                && !type.isHidden()
                && !InvocationHandler.class.isAssignableFrom(type)
                && !ClassLoader.class.isAssignableFrom(type)
                && type != Class.class;
    }

    private @Nullable Class<?> load(String name) {
        Class<?> type = named.find(name);
        return type == null ? null : AllowedClasses.enumOf(type);
    }

    private SerializationException missing(String name, Slot slot) {
        String subject = "class " + Texts.shortened(name) + " at " + slot + " (" + service.name() + ") ";
        return new SerializationException(
                named.isFull()
                        ? subject + "was not found; " + NamedClasses.MAX_UNKNOWN
                                + " unknown class names were sent to this"
                                + " service, so only a few further names are searched for each second; find the sender"
                                + " of unknown classes"
                        : subject + "is not on the class path of this application; add the version of the interface's"
                                + " jar that the sender has");
    }

    private Class<?> audited(String name, Slot slot) {
        if (!audit || GadgetNames.contains(name)) {
            throw refusal(name, slot.toString());
        }
        Class<?> type = load(name);
        if (type == null || !ClassOrigin.isOfApplication(type) || !isData(type)) {
            throw refusal(name, slot.toString());
        }
        if (audited.size() < MAX_CACHE && audited.add(name)) {
            log.warn(
                    "{}: class {} would be refused at {}; add {}={}",
                    service.name(),
                    name,
                    slot,
                    ClassPatterns.PROPERTY,
                    name);
        }
        return type;
    }

    SerializationException refusal(String name, String where) {
        String shortName = Texts.shortened(name);
        if (name.equals(BARE_OBJECT)) {
            return new SerializationException("a java.lang.Object without fields may not be read at " + where + " ("
                    + service.name() + "); send an instance of a class of your own");
        }
        return new SerializationException("class " + shortName + " may not be read at " + where + " (" + service.name()
                + advice(name, shortName));
    }

    private static String advice(String name, String shortName) {
        if (Replacements.isOfHibernate(name)) {
            return "); it represents an association that the sender has not loaded; the sender must load it, for"
                    + " example with JOIN FETCH, or send a separate record class";
        }
        String instead = JdkTypes.replacement(name);
        // The message must not recommend allowing a class from a package that is known from attacks.
        return GadgetNames.contains(name)
                ? "); classes of this package are not data; send " + (instead == null ? "a type of your own" : instead)
                : "); if it is data of yours, set " + ClassPatterns.PROPERTY + "=" + shortName;
    }
}
