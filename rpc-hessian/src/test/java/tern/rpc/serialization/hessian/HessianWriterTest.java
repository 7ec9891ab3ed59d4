package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

class HessianWriterTest {

    static class Order implements Serializable {
        @Nullable
        Object customer;
    }

    record NotSerializable(int x) {}

    private final OutputBuffer buffer = new OutputBuffer();
    private final ObjectWriter writer = HessianSerializer.builder().build().newWriter();

    private void begin(int limit) {
        buffer.reset(limit);
        writer.start(buffer);
    }

    private byte[] finished() {
        writer.finish();
        return buffer.toByteArray();
    }

    private byte[] written(@Nullable Object value) {
        begin(Integer.MAX_VALUE);
        writer.writeObject(value);
        return finished();
    }

    @Test
    void unserializableValueIsNamedWithItsPlace() throws IOException {
        Order order = new Order();
        for (Object value : List.of(
                Optional.of(1),
                new NotSerializable(1),
                new Object() {},
                Map.of("k", new NotSerializable(1)),
                List.of(1).iterator(),
                InetAddress.getLoopbackAddress(),
                (Runnable & Serializable) () -> {})) {
            order.customer = value;

            assertThatThrownBy(() -> written(order))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("an instance of " + Order.class.getName())
                    .hasMessageContaining("field: " + Order.class.getName() + ".customer");
        }
    }

    @Test
    void objectOfOneProcessIsRefusedWithItsReplacement() {
        Object view = Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {CharSequence.class, Serializable.class},
                (proxy, method, arguments) -> null);

        assertThatThrownBy(() -> written(view))
                .hasMessageContaining("a proxy of java.lang.CharSequence, java.io.Serializable cannot be sent; send a"
                        + " record or another object with its values");
        assertThatThrownBy(() -> written((Runnable & Serializable) () -> {}))
                .hasMessageContaining("a lambda, of the class " + getClass().getName());
        assertThatThrownBy(() -> written(List.of(1).iterator()))
                .hasMessageContaining(" cannot be sent; pass a List or return a Flow.Publisher");
    }

    @Test
    void valueWhoseClassIsNotSerializableIsRefusedWithItsReplacement() {
        assertRefused(Optional.of(1), "java.util.Optional cannot be sent; pass the value itself, which may be null");
        assertRefused(Path.of("a"), " cannot be sent; send java.lang.String or byte[]");
        assertRefused(Stream.of(1), " cannot be sent; pass a List or return a Flow.Publisher");
        assertRefused(InetAddress.getLoopbackAddress(), " cannot be sent; send java.lang.String");
        assertRefused(
                new NotSerializable(1),
                NotSerializable.class.getName() + " does not implement java.io.Serializable; implement it, or, if it is"
                        + " a class of a library, send a record, a String or a Map with its values");
    }

    private void assertRefused(Object value, String reason) {
        assertThatThrownBy(() -> written(new HashMap<>(Map.of("key", value))))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void writerKeepsNothingOfALargeMessage() {
        WeakReference<Object> value = new WeakReference<>(writeLarge());
        WeakReference<byte[]> array = new WeakReference<>(buffer.array());
        buffer.release();

        for (int i = 0; i < 100 && (value.get() != null || array.get() != null); i++) {
            System.gc();
        }

        assertThat(value.get()).as("the written list").isNull();
        assertThat(array.get()).as("the array").isNull();
    }

    private Object writeLarge() {
        List<String> large = new ArrayList<>(List.of("x".repeat(2 << 20)));
        begin(Integer.MAX_VALUE);
        writer.writeObject(large);
        writer.finish();
        return large;
    }

    /** For non-ASCII text, the writer reserves more space than it needs, if the size limit allows this. */
    @Test
    void wideTextMayFillTheMessageToItsLimit() {
        for (String text : List.of("\u6f22\u5b57".repeat(700), "\u00e9\u6f22x".repeat(40), "\u00e9".repeat(2_000))) {
            byte[] whole = written(text);

            begin(whole.length);
            writer.writeObject(text);
            assertThat(finished()).isEqualTo(whole);

            begin(whole.length - 1);
            assertThatThrownBy(() -> writer.writeObject(text)).isInstanceOf(MessageTooLargeException.class);
        }
    }

    @Test
    void reusedWriterWritesTheBytesOfAFreshOne() {
        byte[] fresh = written(List.of(new ArrayList<>(), "x"));
        begin(Integer.MAX_VALUE);
        assertThatThrownBy(() -> writer.writeObject(List.of(new Order(), new NotSerializable(1))))
                .isInstanceOf(SerializationException.class);

        assertThat(written(List.of(new ArrayList<>(), "x"))).isEqualTo(fresh);
    }

    @Test
    void refusalBecauseOfManyLargeMessagesStaysARefusal() {
        Order order = new Order();
        order.customer = new byte[1 << 20];
        List<OutputBuffer> others = new ArrayList<>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            OutputBuffer other = new OutputBuffer();
            other.takeTurns("b");
            other.claim(1 << 20);
            others.add(other);
        }
        begin(Integer.MAX_VALUE);
        buffer.takeTurns("a");
        // an interrupted thread does not wait for its turn to write a large message, but is refused immediately
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> writer.writeObject(order))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        refused -> assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        assertThat(Thread.interrupted()).isTrue();
        others.forEach(OutputBuffer::release);
    }

    @Test
    void limitReachedAtAnyDepthIsReportedAsTheLimit() {
        Order order = new Order();
        order.customer = new byte[50_000];
        begin(20_000);

        assertThatThrownBy(() -> writer.writeObject(List.of(order)))
                .isInstanceOf(MessageTooLargeException.class)
                .hasMessageContaining("20000 bytes");
    }

    @Test
    void nestingThatEndsTheStackIsRefused() {
        Object nested = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            List<Object> outer = new ArrayList<>();
            outer.add(nested);
            nested = outer;
        }
        Object deep = nested;

        assertThatThrownBy(() -> written(deep))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("nested too deeply");
    }

    /**
     * Reads a response that consists of a type, a value and attachments. Reference numbers continue across these three
     * values.
     */
    @Test
    void valuesOfAMessageShareTheirTables() throws IOException {
        List<Object> shared = new ArrayList<>(List.of("s"));
        begin(Integer.MAX_VALUE);
        writer.writeInt(4);
        writer.writeObject(shared);
        writer.startMap();
        writer.writeString("dubbo");
        writer.writeString("2.0.2");
        writer.endMap();
        List<Object> after = new ArrayList<>(List.of("after"));
        writer.writeObject(List.of(shared, after, after));

        Hessian2Input lite = new Hessian2Input(new ByteArrayInputStream(finished()));

        assertThat(lite.readInt()).isEqualTo(4);
        Object first = lite.readObject();
        assertThat(lite.readObject()).isEqualTo(Map.of("dubbo", "2.0.2"));
        List<?> last = (List<?>) lite.readObject();
        assertThat(last.get(0)).isSameAs(first);
        assertThat(last.get(2)).isSameAs(last.get(1)).isEqualTo(List.of("after"));
    }

    @Test
    void writtenAnswerEqualsTheRecordedOne() {
        begin(Integer.MAX_VALUE);
        writer.writeInt(4);
        writer.writeObject("hello");
        writer.startMap();
        writer.writeString("dubbo");
        writer.writeString("2.0.2");
        writer.endMap();

        assertThat(finished()).isEqualTo(Coding.bytes("94 05 68656c6c6f 48 \"dubbo\" \"2.0.2\" 5a"));
    }

    /**
     * hessian-lite assigns two reference numbers to a calendar, so all references after a calendar in its messages are
     * wrong.
     */
    @Test
    void referencesAfterACalendarAreRight() {
        List<Object> shared = new ArrayList<>(List.of("s"));

        List<?> read =
                (List<?>) Coding.readLite(written(new ArrayList<>(List.of(new GregorianCalendar(), shared, shared))));

        assertThat(read.get(2)).isSameAs(read.get(1));
    }
}
