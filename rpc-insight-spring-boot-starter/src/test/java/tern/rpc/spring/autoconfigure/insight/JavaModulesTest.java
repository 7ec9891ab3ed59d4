package tern.rpc.spring.autoconfigure.insight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationListener;
import org.springframework.core.io.support.SpringFactoriesLoader;
import tern.rpc.settings.RpcStartException;

/** Tests that an application whose Java runtime lacks modules fails to start, and that the message names them. */
class JavaModulesTest {

    @Test
    void missingModulesOfTheJavaRuntimeAreNamed() {
        assertThatThrownBy(
                        () -> JavaModules.check(name -> !name.startsWith("com.sun.") && !name.startsWith("java.sql.")))
                .isInstanceOfSatisfying(
                        RpcStartException.class,
                        failure -> assertThat(failure.action())
                                .startsWith("If jlink creates the runtime, add jdk.management,java.sql to its option"))
                .hasMessage("The Java runtime of this application lacks modules that Tern needs:"
                        + " jdk.management, java.sql");
    }

    @Test
    void applicationWithoutHessianNeedsNoSql() {
        assertThatCode(() -> JavaModules.check(name -> name.startsWith("com.sun.")))
                .doesNotThrowAnyException();
    }

    @Test
    void runtimeOfTheseTestsHasAllModules() {
        assertThatCode(() -> new JavaModules().onApplicationEvent(null)).doesNotThrowAnyException();
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(ApplicationListener.class))
                .hasAtLeastOneElementOfType(JavaModules.class);
    }
}
