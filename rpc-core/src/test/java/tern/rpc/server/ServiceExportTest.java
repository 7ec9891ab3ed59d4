package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
