package tern.rpc.spring.autoconfigure.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

class ApplicationPackagesTest {

    @Component
    static class Scanned {}

    static class Registered {}

    @Import(Registered.class)
    static class Configured {}

    @Test
    void packagesOfTheApplicationAreThoseOfSpringBootAndOfComponentScans() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            AutoConfigurationPackages.register(context, "com.acme.shop.app");
            context.register(Configured.class);
            context.scan(Scanned.class.getPackageName());
            context.refresh();

            assertThat(ApplicationPackages.of(context))
                    .containsExactly("com.acme.shop.app", Scanned.class.getPackageName());
        }
    }

    @Test
    void applicationWithoutComponentScansHasNoPackages() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Configured.class)) {
            assertThat(ApplicationPackages.of(context)).isEmpty();
        }
    }
}
