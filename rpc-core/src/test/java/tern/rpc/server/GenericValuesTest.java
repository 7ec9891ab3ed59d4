package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;

class GenericValuesTest {

    /** Each list holds the one before twice: as a tree there are two to the power of its height. */
    private static Object shared(int height) {
        Object value = List.of();
        for (int i = 0; i < height; i++) {
            value = List.of(value, value);
        }
        return value;
    }

    @Test
    void aValueThatStandsForEndlesslyManyIsRefused() {
        assertThatThrownBy(() -> new GenericValues().toDeclared(shared(60), Object.class))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("more than 1048576 values");
        assertThatThrownBy(() -> new GenericValues().toGeneric(Map.of("k", shared(60))))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("more than 1048576 values");
    }

    @Test
    void aValueThatStandsInAFewPlacesIsCopiedForEach() {
        assertThat(new GenericValues().toDeclared(shared(5), Object.class)).isEqualTo(shared(5));
    }
}
