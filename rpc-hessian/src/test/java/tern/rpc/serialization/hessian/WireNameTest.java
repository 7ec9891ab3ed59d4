package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.WireName;

/** Tests classes whose name on the wire differs from their Java name. */
class WireNameTest {

    @WireName("com.example.old.Parcel")
    record Parcel(String label, Map<String, Part> parts) implements Serializable {}

    @WireName("com.example.old.Parcel$Part")
    record Part(int weight) implements Serializable {}

    interface Parcels {
        Parcel send(Parcel parcel);
    }

    @Test
    void nameOnTheWireIsWrittenAndRead() {
        Coding coding = Coding.of(Parcels.class);
        Parcel parcel = new Parcel("a", Map.of("one", new Part(7)));

        byte[] bytes = coding.write(parcel);

        assertThat(new String(bytes, StandardCharsets.ISO_8859_1))
                .contains("com.example.old.Parcel", "com.example.old.Parcel$Part")
                .doesNotContain("WireNameTest");
        assertThat(coding.read(bytes)).isEqualTo(parcel);
    }
}
