package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import tern.rpc.spring.LocalRpcPort;

/** Tests the explanation for beans that request the port of the RPC server too early. */
class OwnPortFailureAnalyzerTest {

    static class Early {
        @LocalRpcPort
        int port;
    }

    static class Other {
        @Value("${no.such.property}")
        String text = "";
    }

    @Test
    void beanThatNeedsThePortIsNamed() {
        run(Early.class, analysis -> {
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .startsWith("Bean '")
                    .contains("Early' needs the port of the RPC server (@LocalRpcPort");
            assertThat(analysis.getAction()).contains("ApplicationReadyEvent", "test classes");
        });
    }

    @Test
    void otherPlaceholdersAreNotAnalyzed() {
        run(Other.class, analysis -> assertThat(analysis).isNull());
    }

    private static void run(Class<?> bean, java.util.function.Consumer<FailureAnalysis> check) {
        provider(Greeter.class, bean)
                .withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class))
                .run(there -> check.accept(new OwnPortFailureAnalyzer().analyze(there.getStartupFailure())));
    }
}
