package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.support.HttpAccessor;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

/** Tests an application in a Java runtime without java.net.http, such as one that jlink created. */
@Timeout(240)
class MissingHttpModuleTest {

    private static final String MODULES =
            "java.base,java.desktop,java.instrument,java.logging,java.management,java.naming,java.sql,java.xml,"
                    + "jdk.unsupported";

    @Configuration(proxyBeanMethods = false)
    static class Clients {

        @Bean
        RestTemplate template() {
            return new RestTemplate();
        }

        @Bean
        RestClient client() {
            return RestClient.create(new RestTemplate());
        }
    }

    static final class Application {

        private Application() {}

        public static void main(String[] arguments) {
            try (AnnotationConfigApplicationContext context =
                    new AnnotationConfigApplicationContext(HttpClientAutoConfiguration.class, Clients.class)) {
                HttpAccessor template = context.getBean(RestTemplate.class);
                System.out.println(template.getRequestFactory().getClass().getSimpleName() + " without "
                        + ModuleLayer.boot().findModule("java.net.http"));
            }
        }
    }

    @Test
    void clientsOfSpringAreMeasuredWithoutTheHttpModuleOfJava() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--limit-modules",
                        MODULES,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Application.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(output).contains("WatchedRequestFactory without Optional.empty");
        } finally {
            process.destroyForcibly();
        }
    }
}
