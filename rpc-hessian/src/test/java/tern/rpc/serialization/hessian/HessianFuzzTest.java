package tern.rpc.serialization.hessian;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.FuzzTarget;

/**
 * Verifies promise R1 in docs/figures/promises.md for Hessian. A reader accepts or rejects each invalid input, and must
 * then still read a valid message correctly.
 */
@Timeout(3_600)
public class HessianFuzzTest {

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Graphs.Graph.class);
    private static final List<ValueType> TYPES = Stream.of(
                    Object.class,
                    Graphs.Node.class,
                    List.class,
                    Map.class,
                    Set.class,
                    long[].class,
                    Object[].class,
                    int.class,
                    String.class,
                    Throwable.class)
            .map(ValueType::of)
            .toList();

    private final Coding coding = Coding.of(Graphs.Graph.class);
    private final ObjectReader reader = coding.start(new byte[0]);

    /** Returns a target that fuzzes only the reader. */
    public static FuzzTarget target() {
        HessianFuzzTest test = new HessianFuzzTest();
        return new FuzzTarget(test.honest(), test::feed, () -> {});
    }

    @Test
    void everyInputIsReadOrRefused() {
        new Fuzz("hessian2", honest(), pieces()).run(this::feed);
    }

    private List<byte[]> honest() {
        List<byte[]> honest = new ArrayList<>();
        for (int seed = 0; seed < 200; seed++) {
            honest.add(coding.write(new Graphs(seed, true).next()));
        }
        Exception suppressing = new Exception("first", new RuntimeException("cause"));
        suppressing.addSuppressed(new java.sql.SQLException("sql", "42", 7));
        honest.add(coding.writeThrowable(suppressing, 5));
        honest.addAll(Bombs.all(500).values());
        return honest;
    }

    /** Returns message fragments: tags with lengths, references, and names of allowed classes. */
    private static List<byte[]> pieces() {
        List<byte[]> pieces = new ArrayList<>();
        for (int tag = 0; tag < 256; tag++) {
            pieces.add(new byte[] {(byte) tag});
            pieces.add(new byte[] {(byte) tag, (byte) 0x90});
        }
        for (String name : List.of(
                "java.util.HashMap",
                "java.util.TreeSet",
                "java.util.PriorityQueue",
                "java.math.BigDecimal",
                "java.util.EnumMap",
                "[int",
                "[object",
                "[[string",
                "java.lang.Class",
                Graphs.Node.class.getName(),
                "com.alibaba.com.caucho.hessian.io.java8.InstantHandle",
                "com.alibaba.com.caucho.hessian.io.EnumSetHandler")) {
            pieces.add(Coding.bytes('"' + name + '"'));
            pieces.add(Coding.bytes("43 \"" + name + "\" 90 60"));
            pieces.add(Coding.bytes("4d \"" + name + "\" 5a"));
            pieces.add(Coding.bytes("56 \"" + name + "\" 92 90 91"));
        }
        pieces.add("\u00ed\u00a0\u00bd\u00ed\u00b8\u0080".getBytes(ISO_8859_1));
        return pieces;
    }

    private void feed(byte[] input) {
        int turn = Math.floorMod(Arrays.hashCode(input), 8 * TYPES.size());
        reader.start(input, 0, input.length);
        reader.trust(SERVICE);
        try {
            switch (turn % 8) {
                case 0 -> reader.readThrowable();
                case 1 -> reader.readMetadata(new Metadata());
                case 2 -> {
                    reader.readString();
                    reader.readScalar();
                }
                default -> reader.readObject(TYPES.get(turn / 8));
            }
        } catch (SerializationException refused) {
            // The reader may reject the input, but only with a SerializationException.
        }
    }
}
