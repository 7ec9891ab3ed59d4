package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;

class BrokenInputTest {

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Graphs.Graph.class);
    private static final List<ValueType> TYPES = List.of(
            ValueType.of(Object.class),
            ValueType.of(Graphs.Node.class),
            ValueType.of(List.class),
            ValueType.of(Map.class),
            ValueType.of(Set.class),
            ValueType.of(long[].class),
            ValueType.of(int.class),
            ValueType.of(String.class),
            ValueType.of(Throwable.class));

    private final Coding coding = Coding.of(Graphs.Graph.class);
    private final ObjectReader reader = coding.start(new byte[0]);

    @Test
    void aMessageCutAnywhereIsRefused() {
        for (int seed = 0; seed < 60; seed++) {
            byte[] whole = coding.write(new Graphs(seed, true).next());
            for (int cut = 0; cut < whole.length; cut += 1 + whole.length / 1000) {
                byte[] part = Arrays.copyOf(whole, cut);

                assertThat(isRead(part, TYPES.get(0)))
                        .as("seed %d cut %d", seed, cut)
                        .isFalse();
            }
        }
    }

    @Test
    void aThrowableCutAnywhereIsRefused() {
        byte[] whole = coding.writeThrowable(new IllegalStateException("broken", new RuntimeException("cause")), 3);
        for (int cut = 0; cut < whole.length; cut++) {
            byte[] part = Arrays.copyOf(whole, cut);

            assertThat(isThrowable(part)).as("cut %d", cut).isFalse();
        }
    }

    @Test
    void changedMessagesAreReadOrRefused() {
        Random random = new Random(1);
        byte[][] seeds = new byte[200][];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] = coding.write(new Graphs(i, true).next());
        }
        for (int i = 0; i < 60_000; i++) {
            byte[] changed = seeds[i % seeds.length].clone();
            change(changed, random);

            isRead(changed, TYPES.get(random.nextInt(TYPES.size())));
        }
    }

    @Test
    void changedThrowablesAreReadOrRefused() {
        Random random = new Random(2);
        Exception suppressing = new Exception("first", new RuntimeException("cause"));
        suppressing.addSuppressed(new java.sql.SQLException("sql", "42", 7));
        byte[] whole = coding.writeThrowable(suppressing, 5);
        for (int i = 0; i < 10_000; i++) {
            byte[] changed = whole.clone();
            change(changed, random);

            isThrowable(changed);
        }
    }

    @Test
    void randomBytesAreReadOrRefused() {
        Random random = new Random(3);
        for (int i = 0; i < 40_000; i++) {
            byte[] bytes = new byte[1 + random.nextInt(60)];
            random.nextBytes(bytes);

            isRead(bytes, TYPES.get(random.nextInt(TYPES.size())));
            isThrowable(bytes);
            isMetadata(bytes);
        }
    }

    @Test
    void aReaderThatRefusedAMessageReadsTheNext() {
        assertThat(isRead(Coding.bytes("7a 43 \"x\" 91 \"y\" 60"), TYPES.get(0)))
                .isFalse();

        assertThat(isRead(Coding.bytes("7a 01 73 51 90"), TYPES.get(0))).isTrue();
    }

    private static void change(byte[] bytes, Random random) {
        for (int changes = 1 + random.nextInt(4); changes > 0 && bytes.length > 0; changes--) {
            int at = random.nextInt(Math.min(bytes.length, 2000));
            if (random.nextInt(4) == 0) {
                System.arraycopy(bytes, at, bytes, Math.min(bytes.length - 1, at + 1), bytes.length - at - 1);
            }
            bytes[at] = (byte) random.nextInt();
        }
    }

    private boolean isRead(byte[] bytes, ValueType type) {
        start(bytes);
        try {
            Object value = reader.readObject(type);
            if (value != null && !Slot.of((Type) type.raw()).raw.isInstance(value)) {
                fail("%s instead of %s", value.getClass(), type);
            }
            return true;
        } catch (SerializationException refused) {
            return false;
        }
    }

    private boolean isThrowable(byte[] bytes) {
        start(bytes);
        try {
            reader.readThrowable();
            return true;
        } catch (SerializationException refused) {
            return false;
        }
    }

    private void isMetadata(byte[] bytes) {
        start(bytes);
        try {
            reader.readMetadata(new Metadata());
        } catch (SerializationException refused) {
            assertThat(refused).hasMessageContaining("byte").hasNoCause();
        }
    }

    private void start(byte[] bytes) {
        reader.start(bytes, 0, bytes.length);
        reader.trust(SERVICE);
    }
}
