package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

class KnownDefinitionsTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    record Point(int x, int y) implements Serializable {}

    record Box(@Nullable Object content) implements Serializable {}

    interface Points {
        Point take(Point point);
    }

    interface Boxes {
        void take(Box box);
    }

    private final Coding points = Coding.of(Points.class);

    @Test
    void definitionsOfOneClassWithDifferentFieldsAreDistinguished() {
        byte[] there = message("x", "y");
        byte[] turned = message("y", "x");
        byte[] more = message("x", "z", "y");

        for (int i = 0; i < 3; i++) {
            assertThat(points.read(there, Point.class)).isEqualTo(new Point(1, 2));
            assertThat(points.read(turned, Point.class)).isEqualTo(new Point(2, 1));
            assertThat(points.read(more, Point.class)).isEqualTo(new Point(1, 3));
        }
    }

    @Test
    void knownDefinitionIsCheckedForEveryService() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        Coding allowing = new Coding(serializer, Points.class);
        Coding refusing = new Coding(serializer, Boxes.class);
        byte[] point = message("x", "y");
        assertThat(allowing.read(point, Point.class)).isEqualTo(new Point(1, 2));

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> refusing.read(point, Object.class))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining(Point.class.getName());
            assertThat(allowing.read(point, Point.class)).isEqualTo(new Point(1, 2));
        }
    }

    @Test
    void knownDefinitionIsCheckedAtEveryPosition() {
        HessianSerializer serializer =
                HessianSerializer.builder().allow(Point.class.getName()).build();
        Coding coding = new Coding(serializer, Points.class);
        byte[] point = message("x", "y");
        assertThat(coding.read(point, Object.class)).isEqualTo(new Point(1, 2));

        assertThatThrownBy(() -> coding.read(point, Box.class)).isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> coding.read(point, String.class)).isInstanceOf(SerializationException.class);
    }

    @Test
    void manyDefinitionsOfOneClassTakeTurns() {
        for (int i = 0; i < 2_000; i++) {
            assertThat(points.read(message("x", "other" + i, "y"), Point.class)).isEqualTo(new Point(1, 3));
        }

        assertThat(points.read(message("x", "y"), Point.class)).isEqualTo(new Point(1, 2));
    }

    @Test
    void definitionTooLongToBeKeptIsReadAllTheSame() {
        String[] fields = IntStream.range(0, 300).mapToObj(i -> "field" + i).toArray(String[]::new);
        fields[7] = "x";
        fields[9] = "y";

        for (int i = 0; i < 2; i++) {
            assertThat(points.read(message(fields), Point.class)).isEqualTo(new Point(8, 10));
        }
    }

    @Test
    void definitionThatEndsTooEarlyIsRefusedEvenIfItsBeginningIsKnown() {
        byte[] whole = message("x", "y");
        points.read(whole, Point.class);

        for (int length = 1; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> points.read(cut, Point.class)).isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void definitionIsMadeOnce() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        ServiceDescriptor service = ServiceDescriptor.of(Points.class);
        serializer.prepare(service);
        ValueType result = service.methods().get(0).result();
        ObjectReader reader = serializer.newReader();
        byte[] point = message("x", "y");

        long first = allocated(reader, service, point, result, 1);
        long thousand = allocated(reader, service, point, result, 1_000);

        // The limit of 300 bytes covers the record and its array of values. If the reader created the class definition
        // and its names for each message, 700 more bytes would be allocated.
        assertThat(thousand / 1_000).isLessThan(first).isLessThan(300);
    }

    private static long allocated(
            ObjectReader reader, ServiceDescriptor service, byte[] bytes, ValueType type, int times) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < times; i++) {
            reader.start(bytes, 0, bytes.length);
            reader.trust(service);
            reader.readObject(type);
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** Returns an encoded point whose fields have the values 1, 2, 3 and so on. */
    private static byte[] message(String... fields) {
        OutputBuffer bytes = new OutputBuffer();
        ScalarOutput out = new ScalarOutput(bytes);
        out.writeDefinition(Point.class.getName(), List.of(fields));
        bytes.write(0x60);
        for (int i = 1; i <= fields.length; i++) {
            out.writeInt(i);
        }
        return bytes.toByteArray();
    }
}
