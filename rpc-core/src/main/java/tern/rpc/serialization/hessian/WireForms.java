package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.ArraySerializer;
import com.alibaba.com.caucho.hessian.io.BasicSerializer;
import com.alibaba.com.caucho.hessian.io.ByteArraySerializer;
import com.alibaba.com.caucho.hessian.io.CalendarHandle;
import com.alibaba.com.caucho.hessian.io.CollectionSerializer;
import com.alibaba.com.caucho.hessian.io.EnumSerializer;
import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import com.alibaba.com.caucho.hessian.io.JavaSerializer;
import com.alibaba.com.caucho.hessian.io.MapSerializer;
import com.alibaba.com.caucho.hessian.io.RecordSerializer;
import com.alibaba.com.caucho.hessian.io.Serializer;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import com.alibaba.com.caucho.hessian.io.UnsafeSerializer;
import com.alibaba.com.caucho.hessian.io.WriteReplaceSerializer;
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
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.Calendar;
import java.util.Date;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.WireName;

/**
 * How classes are written. hessian-lite says which of its serializers fits a class; where we know that one we write the
 * same bytes ourselves, else it writes. Exceptions are ours alone. Thread-safe.
 */
final class WireForms {

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

    /** By hessian-lite's serializer, which must be of exactly this class: subclasses write something else. */
    private static final Map<Class<? extends Serializer>, Function<Class<?>, @Nullable WireForm>> OWN = Map.ofEntries(
            entry(BasicSerializer.class, WireForms::basic),
            entry(ByteArraySerializer.class, ArrayForms::of),
            entry(ArraySerializer.class, ArrayForms::of),
            entry(CollectionSerializer.class, CollectionForm::new),
            entry(List12Serializer.class, CollectionForm::copied),
            entry(ListNSerializer.class, CollectionForm::copied),
            entry(SubListSerializer.class, CollectionForm::copied),
            entry(MapSerializer.class, MapForm::new),
            entry(EnumSerializer.class, EnumForm::new),
            entry(RecordSerializer.class, BeanForm::ofComponents),
            entry(WriteReplaceSerializer.class, ReplacedForm::of),
            entry(UnsafeSerializer.class, BeanForm::ofFields),
            entry(JavaSerializer.class, BeanForm::ofFields),
            entry(LocalDateSerializer.class, HandleForm::date),
            entry(LocalTimeSerializer.class, HandleForm::time),
            entry(LocalDateTimeSerializer.class, HandleForm::dateTime));

    private final Map<Class<?>, String> wireNames;
    private final SerializerFactory rare = new SerializerFactory(WireForms.class.getClassLoader());
    private final Map<Class<?>, WireForm> forms = new ConcurrentHashMap<>();

    WireForms(Map<Class<?>, String> wireNames) {
        this.wireNames = wireNames;
    }

    /** For types that have no form here. */
    SerializerFactory rare() {
        return rare;
    }

    /** @throws RuntimeException when the class cannot travel */
    WireForm of(Class<?> type) throws HessianProtocolException {
        WireForm known = forms.get(type);
        if (known == null) {
            known = make(type);
            forms.put(type, known);
        }
        return known;
    }

    private WireForm make(Class<?> type) throws HessianProtocolException {
        check(type);
        if (Throwable.class.isAssignableFrom(type)) {
            return new ThrowableWriter(type, nameOf(type));
        }
        if (Calendar.class.isAssignableFrom(type)) {
            return WireForms::writeCalendar;
        }
        if (Enum.class.isAssignableFrom(type) && !type.isEnum()) {
            return of(type.getSuperclass()); // A constant with a body is one of its enum.
        }
        Serializer serializer = rare.getObjectSerializer(type);
        Function<Class<?>, @Nullable WireForm> maker = OWN.get(serializer.getClass());
        WireForm own = maker == null ? null : maker.apply(type);
        return own != null ? own : serializer::writeObject;
    }

    private String nameOf(Class<?> type) {
        String configured = wireNames.get(type);
        WireName own = type.getDeclaredAnnotation(WireName.class);
        return configured != null ? configured : own != null ? own.value() : type.getName();
    }

    /** hessian-lite would write some classes although no reader makes the same of them. */
    private static void check(Class<?> type) {
        if (type.isRecord() && !Serializable.class.isAssignableFrom(type)) {
            throw new IllegalStateException(
                    "Serialized class " + type.getName() + " must implement java.io.Serializable");
        }
        if (InputStream.class.isAssignableFrom(type)
                || Iterator.class.isAssignableFrom(type)
                || Enumeration.class.isAssignableFrom(type)
                || Annotation.class.isAssignableFrom(type)
                || InetAddress.class.isAssignableFrom(type)
                || Proxy.isProxyClass(type)
                || type.isHidden()) {
            throw new IllegalStateException("class " + type.getName() + " cannot travel");
        }
    }

    private static Map.Entry<Class<? extends Serializer>, Function<Class<?>, @Nullable WireForm>> entry(
            Class<? extends Serializer> serializer, Function<Class<?>, @Nullable WireForm> form) {
        return Map.entry(serializer, form);
    }

    private static @Nullable WireForm basic(Class<?> type) {
        return type.isArray() ? ArrayForms.of(type) : SCALARS.get(type);
    }

    /** hessian-lite's own counts a calendar twice, and then all later references name the wrong values. */
    private static void writeCalendar(Object value, HessianOutput out) throws IOException {
        out.writeObject(new CalendarHandle(value.getClass(), ((Calendar) value).getTimeInMillis()));
    }
}
