package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceExportTest {

    interface Greetings {
        String greet(String name);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            *   | ''       | group '*'
            a,b | ''       | group 'a,b'
            ''  | *        | version '*'
            ''  | 1.0, 2.0 | version '1.0, 2.0'
            """)
    void groupOrVersionThatStandsForSeveralIsRefused(String group, String version, String named) {
        assertThatThrownBy(() -> ServiceExport.of(Greetings.class, name -> name, group, version))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the " + named + " of " + Greetings.class.getName() + " stands for several ");
    }

    @Test
    void objectThatDoesNotImplementTheInterfaceIsRefused() {
        assertThatThrownBy(() -> export(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the object to export as " + Greetings.class.getName()
                        + " is null; expected an implementation");
        assertThatThrownBy(() -> export("no service"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(" is of the class java.lang.String; expected an implementation");
    }

    /** Exports an object whose class the compiler does not check. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void export(@Nullable Object target) {
        ServiceExport.of((Class) Greetings.class, target);
    }
}
