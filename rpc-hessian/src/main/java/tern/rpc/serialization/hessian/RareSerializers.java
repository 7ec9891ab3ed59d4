package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.ClassSerializer;
import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import com.alibaba.com.caucho.hessian.io.HessianRemoteObject;
import com.alibaba.com.caucho.hessian.io.Serializer;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import com.alibaba.com.caucho.hessian.io.SqlDateSerializer;
import com.alibaba.com.caucho.hessian.io.java8.ZoneIdSerializer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.time.ZoneId;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Finds hessian-lite's serializers for rare types. Where possible, the lookup avoids {@link SerializerFactory}.
 * Initializing that class calls {@code sun.misc.Unsafe}, and JDK 24 and later print a warning about this. Thread-safe.
 */
final class RareSerializers {

    private static final String LIST = "META-INF/dubbo/hessian/serializers";
    private static final String OF_APPLICATIONS = "HessianSerializer";

    private static final Map<String, String> LISTED = listed();

    private RareSerializers() {}

    /** Delays the creation of the serializer factory until the factory is used. */
    private static final class Factory {
        static final SerializerFactory INSTANCE = new SerializerFactory(RareSerializers.class.getClassLoader());
    }

    private static Map<String, String> listed() {
        Map<String, String> names = new HashMap<>();
        for (String date : new String[] {"java.sql.Date", "java.sql.Time", "java.sql.Timestamp"}) {
            names.put(date, SqlDateSerializer.class.getName());
        }
        names.put(Class.class.getName(), ClassSerializer.class.getName());
        ClassLoader loader = RareSerializers.class.getClassLoader();
        try {
            for (URL url : Collections.list(loader.getResources(LIST))) {
                Properties found = new Properties();
                try (InputStream in = url.openStream()) {
                    found.load(in);
                }
                found.stringPropertyNames().forEach(type -> names.putIfAbsent(type, found.getProperty(type)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + LIST, e);
        }
        return names;
    }

    /** Returns the serializer that hessian-lite lists for exactly the given class, or null if there is none. */
    static @Nullable Serializer listed(Class<?> type) {
        String name = LISTED.get(type.getName());
        if (name == null) {
            return ZoneId.class.isAssignableFrom(type) ? ZoneIdSerializer.getInstance() : null;
        }
        try {
            return (Serializer) Class.forName(name, true, RareSerializers.class.getClassLoader())
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | LinkageError e) {
            return null;
        }
    }

    /** Returns whether the application has registered a serializer for the class with hessian-lite. */
    static boolean isSpecial(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        if (loader == null) {
            return false;
        }
        try {
            Class.forName(type.getName() + OF_APPLICATIONS, false, loader);
            return true;
        } catch (ClassNotFoundException e) {
            return HessianRemoteObject.class.isAssignableFrom(type);
        }
    }

    /**
     * Returns the serializer for a class.
     *
     * @throws RuntimeException if the class cannot be serialized
     */
    static Serializer of(Class<?> type) throws HessianProtocolException {
        return Factory.INSTANCE.getObjectSerializer(type);
    }
}
