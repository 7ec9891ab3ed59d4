package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChildNamesTest {

    @ParameterizedTest
    @CsvSource({
        "h%3Fa%3Db%26token%3Da%252Bb%252Fc%253D%253D%26x%3Dy, h%3Fa%3Db%26token%3D***%26x%3Dy",
        "h%3ftoken%3da%252Fb, h%3ftoken%3d***",
        "h?token=a%2Bb%26c&x=y, h?token=***&x=y",
        "h%3Fx%3Dtokens, h%3Fx%3Dtokens",
    })
    void messagesShowNoPartOfAToken(String name, String shown) {
        assertThat(ChildNames.shown(name)).isEqualTo(shown);
    }
}
