package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;

/**
 * Tests that values can be skipped. The server skips the arguments of an unauthenticated caller (promise R26 in
 * docs/figures/promises.md).
 */
class SkippingTest {

    private static final int GRAPHS = 2000;

    /**
     * A class whose static initializer sets a flag in another class, so that the test can detect its initialization.
     */
    static class Loud implements Serializable {
        private static final long serialVersionUID = 1L;

        int a;

        static {
            Heard.sound();
        }
    }

    private static final class Heard {
        static boolean something;

        static void sound() {
            something = true;
        }
    }

    @Test
    void skippedValueIsAsLongAsAReadOne() {
        Coding coding = Coding.of(Graphs.Graph.class);
        for (int seed = 0; seed < GRAPHS; seed++) {
            byte[] bytes = coding.write(new Graphs(seed, true).next());
            ObjectReader reader = coding.start(bytes);

            reader.skip();

            assertThat(reader.remaining()).as("seed %d", seed).isZero();
        }
    }

    @Test
    void valuesOfSeveralArgumentsAreFoundBehindEachOther() {
        Coding coding = Coding.of(Graphs.Graph.class);
        byte[] attachments = Coding.bytes("48 \"token\" \"secret\" 5a");
        for (int seed = 0; seed < GRAPHS; seed++) {
            byte[] value = Coding.writeLite(new Graphs(seed, false).next());
            byte[] message = new byte[value.length + attachments.length];
            System.arraycopy(value, 0, message, 0, value.length);
            System.arraycopy(attachments, 0, message, value.length, attachments.length);
            ObjectReader reader = coding.start(message);
            Metadata found = new Metadata();

            reader.skip();
            reader.readMetadata(found);

            assertThat(found.get("token")).as("seed %d", seed).isEqualTo("secret");
        }
    }

    @Test
    void nothingIsCreatedLoadedOrInitialized() {
        Class<?> service = RecordingLoader.copyOf(PlainService.class);
        Coding coding = Coding.of(service);
        RecordingLoader.asked(service).clear();
        String loud = Loud.class.getName();
        byte[] bytes = Coding.bytes("43 \"" + loud + "\" 91 \"a\" 60 91" // defines class Loud and contains an instance
                + "4d \"" + loud + "\" \"a\" 91 5a" // contains a map whose type is the class Loud
                + "71 \"[" + loud + "\" 60 92" // contains a list whose element type is the class Loud
                + "43 \"no.such.Type\" 90 61");
        ObjectReader reader = coding.start(bytes);

        for (int i = 0; i < 4; i++) {
            reader.skip();
        }

        assertThat(reader.remaining()).isZero();
        assertThat(RecordingLoader.asked(service)).isEmpty();
        assertThat(Heard.something).isFalse();
        assertThat(new Loud().a).isZero();
        assertThat(Heard.something).as("that it would have been heard").isTrue();
    }

    @Test
    void limitsApplyToSkippedValues() {
        Coding coding = Coding.of(Graphs.Graph.class);

        assertThatThrownBy(
                        () -> coding.start(Coding.bytes("79".repeat(65) + "4e")).skip())
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("deeper");
        assertThatThrownBy(() -> coding.start(Coding.bytes("58 49 7f ff ff ff")).skip())
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("claimed");
        assertThatThrownBy(() -> coding.start(new byte[0]).skip()).isInstanceOf(SerializationException.class);
    }
}
