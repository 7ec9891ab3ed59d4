package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PortsOfThisProcessTest {

    /** A number that no test uses as a port. */
    private static final int PORT = 70_001;

    @AfterEach
    void close() {
        PortsOfThisProcess.closed(PORT);
    }

    /** Calls a second copy of the class, like the copy in another application of the same web server. */
    private static boolean isKnownToAnotherApplication() throws ReflectiveOperationException, IOException {
        URL classes =
                PortsOfThisProcess.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader application = new URLClassLoader(new URL[] {classes}, null)) {
            Class<?> copy = application.loadClass(PortsOfThisProcess.class.getName());
            Method contains = copy.getDeclaredMethod("contains", int.class);
            contains.setAccessible(true);
            return (boolean) contains.invoke(null, PORT);
        }
    }

    @Test
    void otherApplicationOfTheWebServerKnowsThePort() throws ReflectiveOperationException, IOException {
        PortsOfThisProcess.opened(PORT);

        assertThat(isKnownToAnotherApplication()).isTrue();
    }

    @Test
    void closedPortIsForgotten() throws ReflectiveOperationException, IOException {
        PortsOfThisProcess.opened(PORT);

        PortsOfThisProcess.closed(PORT);

        assertThat(PortsOfThisProcess.contains(PORT)).isFalse();
        assertThat(isKnownToAnotherApplication()).isFalse();
    }
}
