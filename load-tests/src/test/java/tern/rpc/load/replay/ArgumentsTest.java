package tern.rpc.load.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {

    @Test
    void allRoundsRunUnlessSomeAreNamed() {
        assertThat(Arguments.of()).isEqualTo(new Arguments(Set.of(1, 2, 3, 4, 5), 6, false));
        assertThat(Arguments.of("--rounds=4,2", "--seconds=8", "--stores=embedded"))
                .isEqualTo(new Arguments(Set.of(2, 4), 8, true));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--rounds=6", "--rounds=", "--rounds=1,x", "--seconds=0", "--stores=none", "5"})
    void invalidArgumentIsRefusedWithTheExpectedForm(String argument) {
        assertThatThrownBy(() -> Arguments.of(argument))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected");
    }
}
