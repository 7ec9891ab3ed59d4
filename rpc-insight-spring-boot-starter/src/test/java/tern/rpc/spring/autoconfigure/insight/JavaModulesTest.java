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
        assertThatThrownBy(() -> JavaModules.check(
                        name -> !name.startsWith("com.sun.") && !name.startsWith("java.sql."), module -> false))
                .isInstanceOfSatisfying(
                        RpcStartException.class,
                        failure -> assertThat(failure.action())
                                .startsWith("If jlink creates the runtime, add jdk.management,java.sql to its option"))
                .hasMessageStartingWith("The Java runtime of this application lacks modules that Tern needs:"
                        + " jdk.management, java.sql. If jlink creates the runtime");
    }

    @Test
    void modulesThatAnApplicationOnTheModulePathDoesNotRequireAreNamed() {
        assertThatThrownBy(() -> JavaModules.check(name -> !name.startsWith("java.sql."), module -> true))
                .hasMessage("This application is on the module path, and its modules do not require modules that Tern"
                        + " needs: java.sql. Add requires java.sql; to module-info.java, or start Java with"
                        + " --add-modules java.sql.");
    }

    @Test
    void applicationWithoutHessianNeedsNoSql() {
        assertThatCode(() -> JavaModules.check(name -> name.startsWith("com.sun."), module -> false))
                .doesNotThrowAnyException();
    }

    @Test
    void runtimeOfTheseTestsHasAllModules() {
        assertThatCode(() -> new JavaModules().onApplicationEvent(null)).doesNotThrowAnyException();
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(ApplicationListener.class))
                .hasAtLeastOneElementOfType(JavaModules.class);
    }
}
