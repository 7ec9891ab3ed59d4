package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;

class MetadataTest {

    interface Service {
        void take(List<Object> value);
    }

    private final Coding coding = Coding.of(Service.class);

    private static Metadata read(byte[] bytes) {
        ObjectReader reader = HessianSerializer.builder().build().newReader();
        Metadata metadata = new Metadata();
        reader.start(bytes, 0, bytes.length);
        reader.readMetadata(metadata);
        assertThat(reader.remaining()).isZero();
        return metadata;
    }

    @Test
    void scalarsBecomeTextAndBytesStayBytes() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("text", "x");
        map.put("int", 5);
        map.put("long", 1L << 40);
        map.put("double", 2.5);
        map.put("flag", true);
        map.put("bytes", new byte[] {1});
        map.put("none", null);

        Metadata read = read(Coding.writeLite(map));

        assertThat(read.names()).containsExactly("text", "int", "long", "double", "flag", "bytes");
        assertThat(read.get("int")).isEqualTo("5");
        assertThat(read.get("long")).isEqualTo("1099511627776");
        assertThat(read.get("double")).isEqualTo("2.5");
        assertThat(read.get("flag")).isEqualTo("true");
        assertThat(read.getBytes("bytes")).containsExactly(1);
    }

    @Test
    void otherValuesArePassedOverWithoutBeingMade() {
        byte[] bytes = Coding.bytes("48 01 61 43 \"com.evil.Evil\" 91 \"x\" 60 7a 90 48 5a 01 62 01 78"
                + " 01 63 51 91 01 64 4b 00000000 79 90 91 5a");

        assertThat(read(bytes).names()).containsExactly("b");
    }

    @Test
    void nameOfTheCallerIsDecodedOnceAndPossibleSecretsAreNotCached() {
        ObjectReader reader = HessianSerializer.builder().build().newReader();
        byte[] bytes = Coding.writeLite(Map.of("remote.application", "caller", "token", "secret"));
        Metadata first = new Metadata();
        Metadata second = new Metadata(2);
        reader.start(bytes, 0, bytes.length);
        reader.readMetadata(first);
        reader.start(bytes, 0, bytes.length);
        reader.readMetadata(second);

        assertThat(second.get("remote.application")).isEqualTo("caller").isSameAs(first.get("remote.application"));
        assertThat(second.get("token")).isEqualTo("secret").isNotSameAs(first.get("token"));
    }

    @Test
    void nullIsNoMetadata() {
        assertThat(read(Coding.bytes("4e")).isEmpty()).isTrue();
    }

    @Test
    void typedMapOfAnyTypeIsRead() {
        assertThat(read(Coding.bytes("4d \"com.evil.Evil\" 01 61 01 62 5a")).get("a"))
                .isEqualTo("b");
    }

    @Test
    void valueOtherThanAMapIsRefused() {
        for (String bytes : List.of("90", "79 90", "01 61", "5a", "48 01 61", "48 01 61 01 62")) {
            assertThatThrownBy(() -> read(Coding.bytes(bytes))).isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void entriesAndBytesAreBounded() {
        assertThat(read(Coding.bytes("48" + " 01 61 01 62".repeat(128) + " 5a")).size())
                .isEqualTo(128);
        assertThatThrownBy(() -> read(Coding.bytes("48" + " 01 61 01 62".repeat(129) + " 5a")))
                .hasMessageContaining("more than 128 attachments");
        assertThatThrownBy(() -> read(Coding.bytes("48" + " 01 61 4e".repeat(129) + " 5a")))
                .hasMessageContaining("more than 128 attachments");
        String half = "53 8800" + "61".repeat(0x8800);
        assertThatThrownBy(() -> read(Coding.bytes("48 01 61 " + half + " 01 62 " + half + " 5a")))
                .hasMessageContaining("longer than 65536 bytes");
        assertThatThrownBy(() -> read(Coding.bytes("48 01 61 79 42 ffff" + "00".repeat(0xffff) + " 01 62 01 63 5a")))
                .hasMessageContaining("longer than 65536 bytes");
    }

    /**
     * The attachment map takes a reference number like any other value, so later reference numbers are shifted by
     * one.
     */
    @Test
    void theMapTakesANumber() {
        ObjectReader reader = coding.start(Coding.bytes("48 5a 7a 01 73 51 91"));
        reader.readMetadata(new Metadata());

        List<?> list = (List<?>) reader.readObject(ValueType.of(List.class));

        assertThat(list.get(1)).isSameAs(list);
    }
}
