package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;

class GenericValuesTest {

    /**
     * Builds a value in which each list contains the previous list twice. A copy of this value as a tree would have
     * 2^height leaves.
     */
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

    record Point(int x, int y) {}

    interface Sets {
        void take(Set<Point> points, Set<Object> any, Map<Object, Integer> map);
    }

    private static Object toDeclared(Object value, int parameter) throws NoSuchMethodException {
        return Objects.requireNonNull(new GenericValues()
                .toDeclared(
                        value,
                        Sets.class.getMethod("take", Set.class, Set.class, Map.class)
                                .getGenericParameterTypes()[parameter]));
    }

    @Test
    void aListThatBecomesASetOfRecordsIsBounded() throws NoSuchMethodException {
        List<Map<String, Integer>> points = IntStream.range(0, 1_001)
                .mapToObj(i -> Map.of("x", i, "y", -31 * i))
                .toList();

        assertThat((Set<?>) toDeclared(points.subList(0, 1_000), 0)).hasSize(1_000);
        assertThatThrownBy(() -> toDeclared(points, 0))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("more than 1000 keys or elements of a set");
    }

    @Test
    void aListOfTextsAndNumbersOfEqualHashBecomesNoSet() throws NoSuchMethodException {
        List<Object> equal = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            equal.add((long) i << 32 | i);
            equal.add(i % 2 == 0 ? new BigDecimal(BigInteger.ZERO, 0) : (Object) Boolean.TRUE);
        }
        List<Object> honest = new ArrayList<>();
        IntStream.range(0, 20_000).forEach(i -> honest.add(i % 2 == 0 ? "t" + i : (Object) i));

        assertThat((Set<?>) toDeclared(honest, 1)).hasSize(20_000);
        assertThatThrownBy(() -> toDeclared(equal, 1))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("more than 256 keys");
    }
}
