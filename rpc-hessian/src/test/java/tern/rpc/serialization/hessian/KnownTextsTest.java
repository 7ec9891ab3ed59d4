package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;

class KnownTextsTest {

    private final HessianSerializer serializer = HessianSerializer.builder().build();
    private final ObjectReader reader = serializer.newReader();
    private final KnownTexts known = new KnownTexts();

    @Test
    void textIsFoundByItsBytesAtAnyPosition() {
        known.add(ascii("some.Service"), 0, 12, "some.Service");

        assertThat(known.find(ascii("--some.Service--"), 2, 12)).isEqualTo("some.Service");
        assertThat(known.find(ascii("--some.Servicf--"), 2, 12)).isNull();
        assertThat(known.find(ascii("--some.Service--"), 2, 11)).isNull();
    }

    @Test
    void oneTextTakesThePlaceOfAnother() {
        for (int i = 0; i < 10_000; i++) {
            byte[] text = ascii("name" + i);
            known.add(text, 0, text.length, "name" + i);

            assertThat(known.find(text, 0, text.length)).isEqualTo("name" + i);
        }
    }

    @Test
    void namesAreMadeOnceAndValuesEachTime() {
        byte[] message = message("tern.Example", "token", "secret");
        String service = first(message);
        Metadata metadata = metadata(message);

        assertThat(first(message)).isSameAs(service);
        assertThat(metadata(message).names().get(0)).isSameAs(metadata.names().get(0));
        assertThat(metadata(message).get("token")).isEqualTo("secret").isNotSameAs(metadata.get("token"));
    }

    @Test
    void textThatIsNotAsciiIsReadWithoutTheTable() {
        byte[] message = message("größe", "名", "名字");

        for (int i = 0; i < 3; i++) {
            assertThat(first(message)).isEqualTo("größe");
            assertThat(metadata(message).get("名")).isEqualTo("名字");
        }
    }

    private String first(byte[] message) {
        reader.start(message, 0, message.length);
        return String.valueOf(reader.readString());
    }

    private Metadata metadata(byte[] message) {
        Metadata metadata = new Metadata();
        first(message);
        reader.readMetadata(metadata);
        return metadata;
    }

    private byte[] message(String first, String name, String value) {
        OutputBuffer out = new OutputBuffer();
        ObjectWriter writer = serializer.newWriter();
        writer.start(out);
        writer.writeString(first);
        writer.startMap();
        writer.writeString(name);
        writer.writeString(value);
        writer.endMap();
        writer.finish();
        return out.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
