package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;

class DescriptorTest {

    @ParameterizedTest
    @CsvSource({
        "'', 0",
        "I, 1",
        "BCDFIJSZ, 8",
        "Ljava/lang/String;, 1",
        "[[I, 1",
        "[Ljava/lang/String;J, 2",
        "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;, 3",
    })
    void parametersAreCounted(String descriptor, int parameters) {
        assertThat(Descriptor.parameters(descriptor)).isEqualTo(parameters);
    }

    @Test
    void typesAreShownAsJavaWritesThem() {
        assertThat(Descriptor.readable("ILjava/lang/String;[[JLcom/example/Kitchen$Dish;Z"))
                .isEqualTo("int, java.lang.String, long[][], com.example.Kitchen.Dish, boolean");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"V", "L", "[", "Ljava/lang/String", "I;", "java.lang.String", "L;", "Ljava/lang/Strin[;", "L[;"})
    void invalidDescriptorIsRefused(String descriptor) {
        assertThatThrownBy(() -> Descriptor.parameters(descriptor)).isInstanceOf(SerializationException.class);
    }
}
