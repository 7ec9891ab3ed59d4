package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.CompiledTypes;

/** Tests the warning about annotations whose package begins with {@code javax}. */
@ExtendWith(OutputCaptureExtension.class)
class JavaxAnnotationsTest {

    private static final String ANNOTATION =
            "@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME) public @interface ";

    @Test
    void annotationsOfJavaEeOnAServiceAreNamedWithTheirReplacement(@TempDir Path folder, CapturedOutput output) {
        Class<?> service = new CompiledTypes(
                        folder,
                        Map.of(
                                "javax.validation.constraints.NotBlank",
                                ANNOTATION + "NotBlank {}",
                                "javax.validation.constraints.Min",
                                ANNOTATION + "Min {}",
                                "javax.annotation.security.RolesAllowed",
                                ANNOTATION + "RolesAllowed {}",
                                "javax.annotation.Nonnull",
                                ANNOTATION + "Nonnull {}",
                                "shop.Order",
                                "public class Order implements java.io.Serializable {"
                                        + " @javax.validation.constraints.Min int count; }",
                                "shop.Orders",
                                "public interface Orders { void place(@javax.validation.constraints.NotBlank String"
                                        + " item, Order order); }",
                                "shop.OrdersServer",
                                "@tern.rpc.spring.RpcService public class OrdersServer implements Orders {"
                                        + " @javax.annotation.security.RolesAllowed @javax.annotation.Nonnull"
                                        + " public void place(String item, Order order) {} }"))
                .type("shop.OrdersServer");

        provider(service).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("Annotations of Java EE on shop.OrdersServer or its interface have no effect, because Spring"
                        + " Boot 4 uses the annotations of Jakarta EE: @javax.annotation.security.RolesAllowed,"
                        + " @javax.validation.constraints.Min, @javax.validation.constraints.NotBlank. Import them from"
                        + " jakarta instead of javax");
    }

    @Test
    void argumentWithATypeOfAMissingLibraryDoesNotPreventTheStart(@TempDir Path folder, CapturedOutput output)
            throws IOException {
        CompiledTypes types = new CompiledTypes(
                folder,
                Map.of(
                        "javax.validation.constraints.NotBlank",
                        ANNOTATION + "NotBlank {}",
                        "lib.Extra",
                        "public class Extra {}",
                        "shop.Order",
                        "public class Order { lib.Extra extra; }",
                        "shop.Orders",
                        "public interface Orders { void place(@javax.validation.constraints.NotBlank String item,"
                                + " Order order); }",
                        "shop.OrdersServer",
                        "public class OrdersServer implements Orders { public void place(String item, Order order)"
                                + " {} }"));
        Files.delete(folder.resolve("lib/Extra.class"));

        JavaxAnnotations.check(types.type("shop.OrdersServer"), Set.of(types.type("shop.Orders")));

        assertThat(output).contains("@javax.validation.constraints.NotBlank. Import them from jakarta");
    }

    @Test
    void serviceWithoutAnnotationsOfJavaEeCausesNoWarning(CapturedOutput output) {
        provider(Greeter.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("Annotations of Java EE");
    }
}
