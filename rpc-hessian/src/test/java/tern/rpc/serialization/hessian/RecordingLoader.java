package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A class loader that defines one interface itself, delegates all other requests to its parent, and records the
 * requested names. Thread-safe.
 */
public final class RecordingLoader extends ClassLoader {

    private final String own;
    private final Set<String> asked = ConcurrentHashMap.newKeySet();

    private RecordingLoader(Class<?> own) {
        super(own.getClassLoader());
        this.own = own.getName();
    }

    /** Returns a copy of the interface, loaded by a separate class loader. */
    public static Class<?> copyOf(Class<?> type) {
        try {
            return new RecordingLoader(type).loadClass(type.getName());
        } catch (ClassNotFoundException impossible) {
            throw new AssertionError(impossible);
        }
    }

    public static Set<String> asked(Class<?> copy) {
        return ((RecordingLoader) copy.getClassLoader()).asked;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals(own)) {
            asked.add(name);
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define();
        }
    }

    private Class<?> define() throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(own.replace('.', '/') + ".class")) {
            byte[] bytes = file.readAllBytes();
            return defineClass(own, bytes, 0, bytes.length);
        } catch (IOException failure) {
            throw new ClassNotFoundException(own, failure);
        }
    }
}
