package tern.rpc.serialization.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.test.Item;

class TreeEstimateTest {

    @Test
    void valuesOfAnArrayTakeMuchMoreMemoryThanText() {
        assertThat(TreeEstimate.bytes("{\"x\":[0,0,0]}")).isEqualTo(13 + 250 + 100 + 100 + 2 * 100);
    }

    @Test
    void structureInsideTextsIsNotCounted() {
        String text = "\"{[,:\\\"{\"";

        assertThat(TreeEstimate.bytes(text)).isEqualTo(text.length());
    }

    @Test
    void messageWhoseTreeDoesNotFitIsRefusedEvenIfItsMemberIsUnknown() {
        // each value takes two characters of text and 100 bytes of the estimate
        int values = (int) Math.min(100 << 20, Runtime.getRuntime().maxMemory() / 4 / 100 + 1);
        String json = "{\"later\":[0" + ",0".repeat(values) + "]}";

        assertThatThrownBy(() -> new ProtobufCodec(dropped -> {}).fromJson(Item.class, json))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("the objects of this message of " + json.length() + " bytes would take about");
    }
}
