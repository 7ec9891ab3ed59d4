package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.service.annotation.PostExchange;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests that startup names the Spring MVC annotations that RPC does not use. */
@ExtendWith(OutputCaptureExtension.class)
class WebMappingsTest {

    private static final Logger LOG = (Logger) LoggerFactory.getLogger(WebMappings.class);
    private static final String TEXT = "RPC does not use the web annotations of ";

    /** By default, the logging configuration of these tests logs only warnings. */
    @BeforeEach
    void logInfo() {
        LOG.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        LOG.setLevel(null);
    }

    @ParameterizedTest
    @ValueSource(classes = {OfMapped.class, OfExchange.class})
    void annotationsOfSpringMvcAreNamedWithThePathOfACall(Class<?> service, CapturedOutput output) {
        provider(service).run(there -> assertThat(there).hasNotFailed());

        String type = service.getInterfaces()[0].getName();
        assertThat(output).containsOnlyOnce(TEXT + type + ": the path of a call is /" + type + "/<method>");
    }

    @Test
    void annotationsOfTheInterfaceOfAReferenceAreNamed(CapturedOutput output) {
        application(Caller.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(TEXT + Mapped.class.getName() + ": the path of a call is /" + Mapped.class.getName()
                        + "/<method>")
                .doesNotContain(GreetingService.class.getName() + "/<method>");
    }

    @Test
    void annotationOfAClassIsNamed(CapturedOutput output) {
        provider(MappedClass.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(TEXT + MappedClass.class.getName() + ": the path of a call is /"
                        + GreetingService.class.getName() + "/<method>");
    }

    @ParameterizedTest
    @ValueSource(classes = {AlsoAController.class, Greeter.class})
    void controllersAndPlainServicesAreNotNamed(Class<?> service, CapturedOutput output) {
        provider(service).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(TEXT);
    }

    interface Mapped {
        @GetMapping("/greetings")
        String greet(String name);
    }

    interface Exchange {
        @PostExchange("/greetings")
        String greet(String name);
    }

    static class Caller {
        @RpcReference
        Mapped mapped;

        @RpcReference(group = "other")
        Mapped other;

        @RpcReference
        GreetingService plain;
    }

    @RpcService
    static class OfMapped implements Mapped {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    static class OfExchange implements Exchange {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    @RequestMapping("/greetings")
    static class MappedClass implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    @Controller
    static class AlsoAController implements Mapped {
        @Override
        public String greet(String name) {
            return name;
        }
    }
}
