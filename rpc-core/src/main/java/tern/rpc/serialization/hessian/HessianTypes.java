package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.AbstractHessianOutput;
import com.alibaba.com.caucho.hessian.io.AbstractSerializerFactory;
import com.alibaba.com.caucho.hessian.io.CalendarHandle;
import com.alibaba.com.caucho.hessian.io.Deserializer;
import com.alibaba.com.caucho.hessian.io.Serializer;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.annotation.Annotation;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.Calendar;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How classes are written: as hessian-lite does, but for exceptions and for what must not travel. Thread-safe. */
final class HessianTypes extends SerializerFactory {

    HessianTypes(Map<Class<?>, String> wireNames) {
        super(HessianTypes.class.getClassLoader());
        addFactory(new OwnSerializers(wireNames));
    }

    /** hessian-lite would write some classes although no reader makes the same of them. */
    static void check(Class<?> type) {
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

    /** hessian-lite's own counts a calendar twice, and then all later references name the wrong values. */
    private static void writeCalendar(Object value, AbstractHessianOutput out) throws IOException {
        out.writeObject(new CalendarHandle(value.getClass(), ((Calendar) value).getTimeInMillis()));
    }

    private static final class OwnSerializers extends AbstractSerializerFactory {

        private final Map<Class<?>, String> wireNames;

        OwnSerializers(Map<Class<?>, String> wireNames) {
            this.wireNames = wireNames;
        }

        @Override
        @SuppressWarnings("rawtypes") // Declared so.
        public @Nullable Serializer getSerializer(Class type) {
            check(type);
            if (Throwable.class.isAssignableFrom(type)) {
                return new ThrowableWriter(type, wireNames.getOrDefault(type, type.getName()));
            }
            return Calendar.class.isAssignableFrom(type) ? HessianTypes::writeCalendar : null;
        }

        @Override
        @SuppressWarnings("rawtypes") // Declared so.
        public @Nullable Deserializer getDeserializer(Class type) {
            return null;
        }
    }
}
