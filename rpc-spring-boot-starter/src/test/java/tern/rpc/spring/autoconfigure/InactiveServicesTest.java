package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Tests the warning about services in an application without Tern's auto-configuration. */
@ExtendWith(OutputCaptureExtension.class)
class InactiveServicesTest {

    private static final String WARNING = "Beans with @RpcService are not exported";

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RpcAutoConfiguration.class)
    @Import(Greeter.class)
    static class Active {}

    @Configuration(proxyBeanMethods = false)
    static class WithoutServices {}

    @Test
    void servicesWithoutTheAutoConfigurationAreNamed(CapturedOutput output) {
        start(Plain.class);

        assertThat(output)
                .contains(WARNING + ", because Tern's auto-configuration is not active: ")
                .contains(Greeter.class.getName())
                .contains("Put @SpringBootApplication or @EnableAutoConfiguration on the main class");
    }

    @Test
    void otherApplicationsAreNotWarnedAbout(CapturedOutput output) {
        start(Active.class);
        start(WithoutServices.class);
        start(Plain.class, "org.springframework.boot.test.context.SpringBootTestContextBootstrapper=true");

        assertThat(output).doesNotContain(WARNING);
    }

    private static void start(Class<?> configuration, String... properties) {
        try (ConfigurableApplicationContext here = new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .properties(properties)
                .run()) {
            assertThat(here.isActive()).isTrue();
        }
    }
}
