package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.RpcException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests calls without a version to an export that has a version. */
@ExtendWith(OutputCaptureExtension.class)
class OmittedVersionTest {

    private static final String LOGGER = "tern.rpc.server.HandlerRegistry";
    private static final LoggingSystem LOGGING = LoggingSystem.get(OmittedVersionTest.class.getClassLoader());

    @RpcService(version = "1.0.0")
    static class First extends Greeter {}

    @RpcService(version = "2.0.0")
    static class Second extends Greeter {}

    static class OverDubbo {
        @RpcReference(protocol = "dubbo")
        GreetingService greetings;
    }

    static class OverTriple {
        @RpcReference(protocol = "tri")
        GreetingService greetings;
    }

    @Test
    void callOverDubboFailsAndSaysWhatToSet() {
        provider(Second.class)
                .run(there -> consumerOf(there, OverDubbo.class).run(here -> {
                    GreetingService greetings = here.getBean(OverDubbo.class).greetings;

                    assertThatThrownBy(() -> greetings.greet("Ada"))
                            .isInstanceOf(RpcException.class)
                            .hasMessageContaining("is not exported here without group and version; exported services: ")
                            .hasMessageContaining("set group and version of the reference");
                }));
    }

    @Test
    void callOverTripleReachesTheOnlyExportAndTheServerLogsItOnce(CapturedOutput output) {
        LOGGING.setLogLevel(LOGGER, LogLevel.INFO);
        try {
            provider(First.class)
                    .run(there -> consumerOf(there, OverTriple.class).run(here -> {
                        GreetingService greetings = here.getBean(OverTriple.class).greetings;

                        assertThat(greetings.greet("Ada")).isEqualTo("Hello Ada");
                        assertThat(greetings.greet("Bob")).isEqualTo("Hello Bob");
                    }));
        } finally {
            LOGGING.setLogLevel(LOGGER, null);
        }

        assertThat(output).containsOnlyOnce("A caller without group and version is served by ");
    }
}
