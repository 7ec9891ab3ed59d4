package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Restarts as Spring Boot's devtools make them: the classes of the application get a new loader, those of libraries stay.
 */
@Timeout(120)
class RestartTest {

    /** Defines the classes of the application itself, and leaves all others to its parent. */
    private static final class RestartLoader extends ClassLoader {
        private static final String OWN = RestartedApplication.class.getName();

        RestartLoader() {
            super(RestartTest.class.getClassLoader());
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
    }

    @Test
    void classesOfTheNewLoaderServeAndTravelAfterARestart() throws Exception {
        String first = startAndCall(new RestartLoader());
        String second = startAndCall(new RestartLoader());

        assertThat(first).isEqualTo("soup and burnt, tea and burnt");
        assertThat(second).isEqualTo(first);
    }

    /** In a thread whose context loader is the new one, as devtools do it. */
    private static String startAndCall(RestartLoader loader) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            Class<?> type = loader.loadClass(RestartedApplication.class.getName());
            assertThat(type).isNotEqualTo(RestartedApplication.class);
            Object application = type.getConstructor().newInstance();
            try (AutoCloseable closing = (AutoCloseable) application) {
                assertThat(closing).isNotNull();
                return (String) ((Supplier<?>) application).get();
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
