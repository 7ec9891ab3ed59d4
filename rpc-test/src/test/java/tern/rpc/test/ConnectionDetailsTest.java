package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.stereotype.Component;
import org.testcontainers.containers.GenericContainer;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcConnectionDetails;
import tern.rpc.spring.RpcReference;

/** Tests addresses supplied by application beans or by simulated containers. */
@Timeout(120)
class ConnectionDetailsTest {

    @RegisterExtension
    static final ScriptedProvider provider = ScriptedProvider.of(Desk.class);

    @Nested
    @RpcTest({Visitor.class, Details.class})
    class OfABean {

        @Test
        void connectionDetailsWinOverProperties(@Autowired Visitor visitor) {
            provider.on("greet").answer("from the bean");

            assertThat(visitor.desk.greet("Ada")).isEqualTo("from the bean");
        }
    }

    @Nested
    @RpcTest(Visitor.class)
    @ImportAutoConfiguration(ServiceConnectionAutoConfiguration.class)
    class OfAContainer {

        @ServiceConnection(name = "tern-rpc")
        static final PretendedContainer container = new PretendedContainer();

        @Test
        void addressesUseTheMappedPort(@Autowired Visitor visitor) {
            provider.on("greet").answer("from the container");

            assertThat(visitor.desk.greet("Ada")).isEqualTo("from the container");
        }
    }

    @Test
    void servicesOfComposeAreFoundByLabelOrImage() throws Exception {
        assertThat(compose(
                        new Service("any/image:1", Map.of("org.springframework.boot.service-connection", "tern-rpc"))))
                .containsExactly("10.0.0.9:32768");
        assertThat(compose(new Service("tern-rpc:1", Map.of()))).containsExactly("10.0.0.9:32768");
        assertThat(compose(new Service("busybox:1", Map.of()))).isEmpty();
    }

    private static List<String> compose(RunningService service) throws Exception {
        Constructor<DockerComposeConnectionSource> constructor =
                DockerComposeConnectionSource.class.getDeclaredConstructor(RunningService.class, Environment.class);
        constructor.setAccessible(true);
        Map<Class<?>, ConnectionDetails> found = new ConnectionDetailsFactories(
                        ConnectionDetailsTest.class.getClassLoader())
                .getConnectionDetails(constructor.newInstance(service, new MockEnvironment()), false);
        RpcConnectionDetails details = (RpcConnectionDetails) found.get(RpcConnectionDetails.class);
        return details == null ? List.of() : details.addresses("any");
    }

    public interface Desk {
        String greet(String name);
    }

    @Component
    static class Visitor {
        @RpcReference
        Desk desk;
    }

    @Configuration(proxyBeanMethods = false)
    static class Details {
        @Bean
        RpcConnectionDetails details() {
            return reference -> reference.equals("Desk") ? List.of(provider.address()) : List.of();
        }
    }

    /** A simulated container whose mapped port is the port of the scripted provider. */
    static final class PretendedContainer extends GenericContainer<PretendedContainer> {

        PretendedContainer() {
            super("example/greetings:1");
            withExposedPorts(RpcServer.DEFAULT_PORT);
        }

        @Override
        public void start() {
            // There is no real container to start.
        }

        @Override
        public void stop() {
            // There is no real container to stop.
        }

        @Override
        public String getDockerImageName() {
            return "example/greetings:1";
        }

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public String getHost() {
            return "127.0.0.1";
        }

        @Override
        public Integer getMappedPort(int port) {
            return provider.port();
        }
    }

    private record Service(String imageName, Map<String, String> labels) implements RunningService {

        @Override
        public String name() {
            return "greetings";
        }

        @Override
        public ImageReference image() {
            return ImageReference.of(imageName);
        }

        @Override
        public String host() {
            return "10.0.0.9";
        }

        @Override
        public ConnectionPorts ports() {
            return new ConnectionPorts() {
                @Override
                public int get(int containerPort) {
                    return Objects.requireNonNull(
                            Map.of(RpcServer.DEFAULT_PORT, 32_768).get(containerPort));
                }

                @Override
                public List<Integer> getAll() {
                    return List.of(32_768);
                }

                @Override
                public List<Integer> getAll(String protocol) {
                    return getAll();
                }
            };
        }

        @Override
        public Map<String, String> env() {
            return Map.of();
        }
    }
}
