package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests references declared in the test class itself, as a field or as method parameters. */
@Timeout(120)
@RpcTest(TestClassReferencesTest.Clerk.class)
class TestClassReferencesTest {

    @RpcReference
    Desk field;

    @Test
    void fieldOfATestClassGetsTheReference() {
        assertThat(field.greet("Ada")).isEqualTo("Good day, Ada");
    }

    @Test
    void parameterOfATestMethodGetsTheReference(@RpcReference Desk parameter) {
        assertThat(parameter.greet("Ada")).isEqualTo("Good day, Ada");
    }

    @Test
    void parameterHasTheSettingsOfItsAnnotation(@RpcReference(timeout = "50s") Desk parameter) {
        assertThat(parameter).isNotEqualTo(field);
        assertThat(parameter.greet("Ada")).isEqualTo("Good day, Ada");
    }

    interface Desk {
        String greet(String name);
    }

    @RpcService
    static class Clerk implements Desk {
        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }
    }
}
