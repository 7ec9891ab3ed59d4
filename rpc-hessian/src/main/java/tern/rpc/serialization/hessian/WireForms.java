package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.BitSetSerializer;
import com.alibaba.com.caucho.hessian.io.CalendarHandle;
import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import com.alibaba.com.caucho.hessian.io.JavaSerializer;
import com.alibaba.com.caucho.hessian.io.Serializer;
import com.alibaba.com.caucho.hessian.io.java8.LocalDateSerializer;
import com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeSerializer;
import com.alibaba.com.caucho.hessian.io.java8.LocalTimeSerializer;
import com.alibaba.com.caucho.hessian.io.java9.List12Serializer;
import com.alibaba.com.caucho.hessian.io.java9.ListNSerializer;
import com.alibaba.com.caucho.hessian.io.java9.SubListSerializer;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.annotation.Annotation;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.EnumSet;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.LocalTypes;
import tern.rpc.WireName;

/**
 * Chooses the {@link WireForm} for a class. A form is one of Tern's own encoders, and writes the same bytes as the
 * serializer that hessian-lite chooses for the class. Classes without a form are written by hessian-lite's serializer.
 * Exceptions and calendars always have a form. Thread-safe.
 */
final class WireForms implements WireForm.Lookup {

    private static final Map<Class<?>, WireForm> SCALARS = Map.of(
            Boolean.class, (value, out) -> out.writeBoolean((boolean) value),
            Byte.class, (value, out) -> out.writeInt((byte) value),
            Short.class, (value, out) -> out.writeInt((short) value),
            Integer.class, (value, out) -> out.writeInt((int) value),
            Long.class, (value, out) -> out.writeLong((long) value),
            Float.class, (value, out) -> out.writeFloat((float) value),
            Double.class, (value, out) -> out.writeDouble((double) value),
            Character.class, (value, out) -> out.writeString(value.toString()),
            Date.class, (value, out) -> out.writeUTCDate(((Date) value).getTime()));

    /**
     * Functions that create Tern's own {@link WireForm} for a class. The key is the serializer that hessian-lite lists
     * for the class.
     */
    private static final Map<Class<? extends Serializer>, Function<Class<?>, @Nullable WireForm>> LISTED =
            Map.ofEntries(
                    entry(List12Serializer.class, CollectionForm::copied),
                    entry(ListNSerializer.class, CollectionForm::copied),
                    entry(SubListSerializer.class, CollectionForm::copied),
                    entry(LocalDateSerializer.class, HandleForm::date),
                    entry(LocalTimeSerializer.class, HandleForm::time),
                    entry(LocalDateTimeSerializer.class, HandleForm::dateTime));

    private final Map<Class<?>, String> wireNames;
    private final Predicate<Class<?>> isOfService;
    private final Map<Class<?>, WireForm> forms = new ConcurrentHashMap<>();

    /**
     * @param wireNames the classes that have a different name in messages, with that name
     * @param isOfService returns whether a class belongs to a prepared service
     */
    WireForms(Map<Class<?>, String> wireNames, Predicate<Class<?>> isOfService) {
        this.wireNames = wireNames;
        this.isOfService = isOfService;
    }

    @Override
    public WireForm of(Class<?> type) throws HessianProtocolException {
        WireForm known = forms.get(type);
        if (known == null) {
            known = make(type);
            forms.put(type, known);
        }
        return known;
    }

    private WireForm make(Class<?> type) throws HessianProtocolException {
        check(type);
        LostState.check(type);
        if (Throwable.class.isAssignableFrom(type)) {
            return new ThrowableWriter(type, nameOf(type));
        }
        if (Calendar.class.isAssignableFrom(type)) {
            return WireForms::writeCalendar;
        }
        if (Enum.class.isAssignableFrom(type) && !type.isEnum()) {
            // The class belongs to an enum constant with a body, and its superclass is the enum.
            return of(type.getSuperclass());
        }
        if (type.isAnonymousClass() && isContainer(type.getSuperclass())) {
            // A reader cannot create instances of an anonymous class, because only the enclosing class can create them.
            return of(type.getSuperclass());
        }
        WireForm own = own(type);
        return own != null ? own : rare(type);
    }

    /**
     * Returns a {@link WireForm} that uses hessian-lite's serializer. If the class is not serializable, throws an
     * exception that says what to send instead.
     */
    private static WireForm rare(Class<?> type) throws HessianProtocolException {
        try {
            WireForm form = RareSerializers.of(type)::writeObject;
            return Date.class.isAssignableFrom(type) ? checked(form) : form;
        } catch (IllegalStateException e) {
            throw Serializable.class.isAssignableFrom(type) ? e : notSerializable(type);
        }
    }

    private static WireForm checked(WireForm dates) {
        return (value, out) -> {
            LostState.checkTime((Date) value);
            dates.write(value, out);
        };
    }

    private static IllegalStateException notSerializable(Class<?> type) {
        String advice = advice(type);
        return new IllegalStateException(
                advice == null
                        ? type.getName()
                                + " does not implement java.io.Serializable; implement it, or, if it is a class"
                                + " of a library, send a record, a String or a Map with its values"
                        : described(type) + " cannot be sent; " + advice);
    }

    /**
     * Returns advice on what to send instead of an object of the class; null if the application's developer can change
     * the class.
     */
    private static @Nullable String advice(Class<?> type) {
        String advice = LocalTypes.advice(type);
        return advice != null || ClassOrigin.isOfApplication(type) ? advice : "send " + JdkTypes.replacement(type);
    }

    /**
     * Returns the {@link WireForm} for a class, or null if only hessian-lite can write the class. The checks are in the
     * same order as in hessian-lite.
     */
    private @Nullable WireForm own(Class<?> type) {
        WireForm scalar = SCALARS.get(type);
        if (scalar != null) {
            return scalar;
        }
        if (type.isArray()) {
            return ArrayForms.of(type);
        }
        if (EnumSet.class.isAssignableFrom(type)) {
            return new EnumSetForm();
        }
        Serializer listed = RareSerializers.listed(type);
        if (listed != null) {
            Function<Class<?>, @Nullable WireForm> maker = LISTED.get(listed.getClass());
            WireForm own = maker == null ? null : maker.apply(type);
            return own != null ? own : listed::writeObject;
        }
        if (RareSerializers.isSpecial(type)) {
            return null;
        }
        if (isContainer(type) && !isRestored(type)) {
            return Map.class.isAssignableFrom(type) ? MapForm.ofJdk(type) : CollectionForm.ofJdk(type);
        }
        if (JavaSerializer.getWriteReplace(type) != null) {
            return ReplacedForm.of(type);
        }
        if (Map.class.isAssignableFrom(type)) {
            return new MapForm(type);
        }
        if (Collection.class.isAssignableFrom(type)) {
            return new CollectionForm(type);
        }
        if (type.isEnum()) {
            return new EnumForm(type);
        }
        if (BitSet.class.isAssignableFrom(type)) {
            return BitSetSerializer.create()::writeObject;
        }
        if (type.isRecord()) {
            return BeanForm.ofComponents(type);
        }
        if (!Serializable.class.isAssignableFrom(type)) {
            // Some entries are not serializable, such as the result of Map.entry and the entries of a HashMap. Such
            // entries are written as a SimpleImmutableEntry.
            boolean isEntryOfJdk = Map.Entry.class.isAssignableFrom(type) && !ClassOrigin.isOfApplication(type);
            return isEntryOfJdk ? JdkPartsForm.of(SimpleImmutableEntry.class) : null;
        }
        WireForm builder = BuilderForm.of(type);
        WireForm ofJdk = builder != null ? builder : JdkPartsForm.of(type);
        return ofJdk != null ? ofJdk : BeanForm.ofFields(type);
    }

    private static boolean isContainer(Class<?> type) {
        return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    /**
     * Returns whether readers can probably create a container of the given class. The reader calls the constructor
     * without parameters, or receives the object that {@code writeReplace} returns. The class of such an object is
     * allowed only if the class belongs to a service. For this reason, Guava's collections, for example, are not
     * restored. If a container is not serializable, its class name is never sent.
     */
    private boolean isRestored(Class<?> type) {
        if (!ClassOrigin.isOfApplication(type)) {
            return true;
        }
        if (JavaSerializer.getWriteReplace(type) != null) {
            return isOfService.test(type);
        }
        return !Serializable.class.isAssignableFrom(type)
                || (!type.isAnonymousClass()
                        && !Modifier.isAbstract(type.getModifiers())
                        && hasConstructorWithoutParameters(type));
    }

    private static boolean hasConstructorWithoutParameters(Class<?> type) {
        try {
            return Arrays.stream(type.getDeclaredConstructors())
                    .anyMatch(constructor -> constructor.getParameterCount() == 0);
        } catch (LinkageError e) {
            return true; // The constructors are unknown, because the class of a parameter is missing.
        }
    }

    private String nameOf(Class<?> type) {
        String configured = wireNames.get(type);
        WireName own = type.getDeclaredAnnotation(WireName.class);
        return configured != null ? configured : own != null ? own.value() : type.getName();
    }

    /** Rejects classes whose instances no reader can create, although hessian-lite would write them. */
    private static void check(Class<?> type) {
        if (type.isRecord() && !Serializable.class.isAssignableFrom(type)) {
            throw notSerializable(type);
        }
        if (InputStream.class.isAssignableFrom(type)
                || Iterator.class.isAssignableFrom(type)
                || Enumeration.class.isAssignableFrom(type)
                || Annotation.class.isAssignableFrom(type)
                || InetAddress.class.isAssignableFrom(type)
                || Proxy.isProxyClass(type)
                || type.isHidden()) {
            String advice = advice(type);
            throw new IllegalStateException(described(type) + " cannot be sent; "
                    + (advice == null ? "send a record or another object with its values" : advice));
        }
    }

    private static String described(Class<?> type) {
        if (Proxy.isProxyClass(type)) {
            return Arrays.stream(type.getInterfaces())
                    .map(Class::getName)
                    .collect(Collectors.joining(", ", "a proxy of ", ""));
        }
        return (type.isHidden() ? "a lambda, of the class " : "an object of the class ") + type.getName();
    }

    private static Map.Entry<Class<? extends Serializer>, Function<Class<?>, @Nullable WireForm>> entry(
            Class<? extends Serializer> serializer, Function<Class<?>, @Nullable WireForm> form) {
        return Map.entry(serializer, form);
    }

    /**
     * Writes a calendar. This method replaces hessian-lite's own serializer. That serializer assigns two reference
     * numbers to a calendar, so that all later references in the message point to wrong values.
     */
    private static void writeCalendar(Object value, HessianOutput out) throws IOException {
        LostState.checkZone((Calendar) value);
        out.writeObject(new CalendarHandle(value.getClass(), ((Calendar) value).getTimeInMillis()));
    }
}
