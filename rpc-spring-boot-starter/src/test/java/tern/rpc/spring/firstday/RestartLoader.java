package tern.rpc.spring.firstday;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Supplier;

/** A class loader that defines the application's classes itself and delegates all other classes to its parent. */
final class RestartLoader extends ClassLoader {
    private static final String OWN = RestartedApplication.class.getName();

    RestartLoader() {
        super(RestartLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OWN)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /**
     * Starts and calls the application on a thread whose context class loader is this loader, in the same way as Spring
     * Boot's devtools.
     */
    String startAndCall() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(this);
        try {
            Class<?> type = loadClass(RestartedApplication.class.getName());
            Object application = type.getConstructor().newInstance();
            try (AutoCloseable started = (AutoCloseable) application) {
                return (String) ((Supplier<?>) started).get();
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
