package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Compares Tern with hessian-lite. Tern must read what hessian-lite writes, and hessian-lite must read what Tern
 * writes.
 */
class RandomGraphsTest {

    private static final int GRAPHS = 2000;

    private final Coding coding = Coding.of(Graphs.Graph.class);

    @Test
    void bothReadersReadHessianLitesBytesAlike() {
        for (int seed = 0; seed < GRAPHS; seed++) {
            Object value = new Graphs(seed, false).next();
            byte[] bytes = Coding.writeLite(value);

            String ours = Picture.of(coding.read(bytes));

            assertAlike(seed, Picture.of(Coding.readLite(bytes)), ours);
            assertAlike(seed, Picture.of(value), ours);
        }
    }

    @Test
    void floatsAndTheirNeighboursArriveUnchanged() {
        for (int seed = 0; seed < GRAPHS; seed++) {
            Object value = new Graphs(seed, true).next();

            assertAlike(seed, Picture.of(value), Picture.of(coding.read(coding.write(value))));
        }
    }

    @Test
    void oneReusedWriterWritesTheBytesOfAFreshOne() {
        for (int seed = 0; seed < GRAPHS; seed++) {
            Object value = new Graphs(seed, false).next();

            assertThat(coding.write(value)).as("seed %d", seed).isEqualTo(Coding.writeLite(value));
        }
    }

    @Test
    void oneReaderReadsManyMessages() {
        var reader = coding.start(new byte[0]);
        for (int seed = 0; seed < GRAPHS; seed++) {
            Object value = new Graphs(seed, true).next();
            byte[] bytes = coding.write(value);

            assertAlike(seed, Picture.of(value), Picture.of(again(reader, bytes)));
        }
    }

    private @Nullable Object again(tern.rpc.serialization.ObjectReader reader, byte[] bytes) {
        byte[] padded = new byte[bytes.length + 20];
        System.arraycopy(bytes, 0, padded, 11, bytes.length);
        reader.start(padded, 11, bytes.length);
        reader.trust(tern.rpc.ServiceDescriptor.of(Graphs.Graph.class));
        return reader.readObject(tern.rpc.ValueType.of(Object.class));
    }

    /** Compares two strings. If they differ, the failure message shows only the part where they differ. */
    private static void assertAlike(int seed, String expected, String actual) {
        int same = 0;
        while (same < Math.min(expected.length(), actual.length()) && expected.charAt(same) == actual.charAt(same)) {
            same++;
        }
        assertThat(part(actual, same)).as("seed %d", seed).isEqualTo(part(expected, same));
    }

    private static String part(String text, int around) {
        return text.substring(Math.max(0, around - 100), Math.min(text.length(), around + 100));
    }
}
