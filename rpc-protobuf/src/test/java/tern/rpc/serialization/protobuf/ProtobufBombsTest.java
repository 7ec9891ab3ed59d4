package tern.rpc.serialization.protobuf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Any;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import com.google.protobuf.FieldMask;
import com.google.protobuf.ListValue;
import com.google.protobuf.Message;
import com.google.protobuf.StringValue;
import com.google.protobuf.Struct;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.Value;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.test.Item;
import tern.rpc.serialization.protobuf.test.skew.Colour;
import tern.rpc.serialization.protobuf.test.skew.Page;
import tern.rpc.serialization.protobuf.test.skew.Row;
import tern.rpc.transport.Cost;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.WorstCosts;

/**
 * Verifies promises R1 and R2 in docs/figures/promises.md for protobuf: the cost of decoding worst-case input, and the
 * robustness against other invalid input.
 */
@Timeout(3_600)
class ProtobufBombsTest {

    private static final int MIB = 1 << 20;
    private static final int SMALL = MIB / 16;

    private static final List<Class<?>> TYPES = List.of(
            Struct.class,
            Value.class,
            ListValue.class,
            FileDescriptorSet.class,
            FileDescriptorProto.class,
            DescriptorProto.class,
            Location.class,
            StringValue.class,
            FieldMask.class,
            Any.class,
            Item.class,
            Page.class);

    private static final Map<Class<?>, KnownFields> KNOWN =
            TYPES.stream().collect(Collectors.toMap(type -> type, ProtobufBombsTest::known));

    private static final Map<String, byte[]> SMALL_BOMBS = bombs(SMALL);

    private final ProtobufCodec codec = new ProtobufCodec(dropped -> {});

    private static KnownFields known(Class<?> type) {
        Message like = (Message) MessageBytes.of(type, dropped -> {}).defaultInstance();
        return KnownFields.of(like.getDescriptorForType());
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static byte[] varint(long value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long rest = value;
        for (; (rest & ~0x7FL) != 0; rest >>>= 7) {
            out.write((int) ((rest & 0x7F) | 0x80));
        }
        out.write((int) rest);
        return out.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Returns a length-delimited field. */
    private static byte[] field(int number, byte[] content) {
        return joined(varint((long) number << 3 | 2), varint(content.length), content);
    }

    private static byte[] repeated(int size, IntFunction<byte[]> part) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; all.size() < size; i++) {
            all.writeBytes(part.apply(i));
        }
        return all.toByteArray();
    }

    /** Returns a field nested in itself {@code levels} times. Each level adds a few bytes. */
    private static byte[] nested(int number, int levels, byte[] inside) {
        byte[] bytes = inside;
        for (int i = 0; i < levels; i++) {
            bytes = field(number, bytes);
        }
        return bytes;
    }

    private static Map<String, byte[]> bombs(int size) {
        Map<String, byte[]> bombs = new LinkedHashMap<>();
        for (int number = 1; number <= 12; number++) {
            int field = number;
            bombs.put("empty field " + number + " again and again", repeated(size, i -> field(field, new byte[0])));
            bombs.put("number 1 in field " + number, repeated(size, i -> bytes(field << 3, 1)));
            bombs.put("as deep as allowed in field " + number, repeated(size, i -> nested(field, 60, new byte[0])));
            bombs.put("twice in itself, field " + number, repeated(size, i -> field(field, field(field, new byte[0]))));
            bombs.put("field " + number + " of many small numbers", field(number, new byte[size]));
            bombs.put("field " + number + " of an empty one", field(number, repeated(size, i -> bytes(10, 0))));
        }
        bombs.put("beginnings of groups", repeated(size, i -> bytes(0x0b)));
        bombs.put("beginnings of unknown groups", repeated(size, i -> bytes(0xa3, 0x06)));
        bombs.put("empty unknown groups", repeated(size, i -> bytes(0xa3, 0x06, 0xa4, 0x06)));
        bombs.put("one unknown number", repeated(size, i -> bytes(0xa0, 0x06, 1)));
        bombs.put("unknown numbers, each another", repeated(size, i -> joined(varint((100L + i) << 3), bytes(1))));
        bombs.put("unknown fields, each another", repeated(size, i -> joined(varint((100L + i) << 3 | 2), bytes(0))));
        bombs.put(
                "unknown fields of eight bytes", repeated(size, i -> joined(varint((100L + i) << 3 | 1), new byte[8])));
        bombs.put(
                "unknown fields in small messages", repeated(size, i -> field(1, joined(varint(200L << 3), bytes(1)))));
        for (int number : new int[] {1, 2, 4}) {
            bombs.put(
                    "an unknown number in each field " + number, repeated(size, i -> field(number, bytes(13 << 3, 1))));
            bombs.put(
                    "an unknown group in each field " + number,
                    repeated(size, i -> field(number, bytes(13 << 3 | 3, 13 << 3 | 4))));
            bombs.put(
                    "an unknown number in a message in each field " + number,
                    repeated(size, i -> field(number, field(number == 4 ? 7 : 8, bytes(13 << 3, 1)))));
            bombs.put("as many unknown numbers as are kept, in fields " + number, asManyAsAreKept(size, number));
        }
        for (int number : new int[] {2, 3, 4, 5}) {
            bombs.put(
                    "new numbers of enums in messages, field " + number,
                    repeated(size, i -> field(i % 2 + 1, bytes(number << 3, 77))));
            bombs.put(
                    "as many new numbers of enums as are kept, field " + number,
                    repeated(size, i -> field(i % 2 + 1, bytes(number << 3, 77, number << 3, 77, number << 3, 77))));
        }
        bombs.put("two unknown numbers in turn", repeated(size, i -> bytes((13 + i % 2) << 3, 1)));
        bombs.put("empty unknown groups of two bytes", repeated(size, i -> bytes(13 << 3 | 3, 13 << 3 | 4)));
        bombs.put(
                "empty unknown groups in one that does not end",
                joined(bytes(14 << 3 | 3), repeated(size, i -> bytes(13 << 3 | 3, 13 << 3 | 4))));
        bombs.put("a length of 2 GiB", joined(bytes(0x0a), varint(Integer.MAX_VALUE), new byte[size]));
        bombs.put("a length below zero", joined(bytes(0x0a), varint(-1), new byte[size]));
        bombs.put("a number of too many bytes", repeated(size, i -> bytes(0xff)));
        bombs.put("text that is no UTF-8", field(1, repeated(size, i -> bytes(0xff))));
        bombs.put("text of surrogates", field(1, repeated(size, i -> bytes(0xed, 0xa0, 0xbd))));
        bombs.put("zeros", new byte[size]);
        bombs.put(
                "entries of a map, each another",
                repeated(size, i -> field(1, joined(field(1, ("k" + i).getBytes(UTF_8)), bytes(0x12, 0)))));
        bombs.put("keys of equal hash", repeated(size, i -> field(1, joined(field(1, equalHash(i)), bytes(0x12, 0)))));
        bombs.put("one message merged again and again", repeated(size, i -> field(8, field(1, new byte[] {'a'}))));
        bombs.put("a struct merged again and again", repeated(size, i -> field(5, field(1, new byte[0]))));
        bombs.put("a list merged again and again", repeated(size, i -> field(6, field(1, new byte[0]))));
        return bombs;
    }

    /**
     * Returns a message with the maximum number of unknown fields that are kept: 4,096, plus one for every 16 bytes.
     * The fields are padded with empty messages.
     */
    private static byte[] asManyAsAreKept(int size, int number) {
        byte[] strange = field(number, bytes(13 << 3, 1));
        byte[] empty = field(number, new byte[0]);
        return repeated(size, i -> i < 4_096 || i % 7 == 0 ? strange : empty);
    }

    private static byte[] equalHash(int number) {
        byte[] text = new byte[36];
        for (int bit = 0; bit < 18; bit++) {
            text[2 * bit] = (byte) ((number >> bit & 1) == 0 ? 'A' : 'B');
            text[2 * bit + 1] = (byte) ((number >> bit & 1) == 0 ? 'a' : 'B');
        }
        return text;
    }

    static Stream<String> names() {
        return SMALL_BOMBS.keySet().stream();
    }

    /** Returns the decoded message; null if the bytes were rejected. */
    private @Nullable Message read(Class<?> type, byte[] bomb) {
        try {
            return (Message) codec.parse(type, bomb, 0, bomb.length);
        } catch (SerializationException refused) {
            assertThat(refused.getMessage()).contains(type.getName());
            return null;
        }
    }

    /**
     * Returns the maximum number of bytes that may be allocated while decoding a message. Two encoded bytes can create
     * a message object and a builder, each as large as an instance of the message class.
     */
    private static long mostAllocated(int size) {
        return 4L * size + MIB + 200L * size;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("names")
    void everyBombIsReadOrRefusedAtABoundedPrice(String name) {
        byte[] bomb = SMALL_BOMBS.get(name);
        for (Class<?> type : TYPES) {
            Cost cost = Cost.least(3, () -> read(type, bomb));
            String told = name + " to " + type.getSimpleName() + ", " + cost.toString(bomb.length);

            assertThat(cost.isTimely(bomb.length)).as(told).isTrue();
            assertThat(cost.allocatedBytes()).as(told).isLessThanOrEqualTo(mostAllocated(bomb.length));
        }
    }

    /** Measures the highest cost of any message, for docs/figures/promises.md. */
    @Test
    @Tag("figures")
    void mostExpensiveBombsAreReported() {
        WorstCosts costs = new WorstCosts();
        for (Map.Entry<String, byte[]> entry : bombs(MIB).entrySet()) {
            for (Class<?> type : TYPES) {
                byte[] bomb = entry.getValue();
                Cost cost = leastOfEnough(() -> read(type, bomb), bomb.length);
                costs.add(
                        entry.getKey() + " to " + type.getSimpleName(), cost, bomb.length, mostAllocated(bomb.length));
            }
        }
        costs.report("protobuf");
    }

    /**
     * Repeats an expensive run and returns the lowest cost, because the first runs execute interpreted code and touch
     * new heap pages, which can cost more than protobuf itself.
     */
    private static Cost leastOfEnough(Runnable work, int size) {
        Cost least = Cost.least(3, work);
        for (int i = 0; i < 12 && least.cpuShare(size) > 0.25; i++) {
            Cost again = Cost.of(work);
            least = new Cost(
                    Math.min(least.cpuNanos(), again.cpuNanos()),
                    Math.min(least.allocatedBytes(), again.allocatedBytes()));
        }
        return least;
    }

    @Test
    void messagesInsideMessagesAreCountedInEveryForm() {
        byte[] list = new byte[0];
        for (int i = 0; i < 33; i++) {
            list = field(6, field(1, list)); // field 6 is Value.list_value, and field 1 is ListValue.values
        }
        byte[] lists = list;
        byte[] groups = repeated(200, i -> bytes(0xa3, 0x06));

        assertThatThrownBy(() -> codec.parse(Value.class, lists, 0, lists.length))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("too many levels of nesting");
        assertThatThrownBy(() -> codec.parse(StringValue.class, groups, 0, groups.length))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("too many levels of nesting");
    }

    @Test
    void textThatIsNoUtf8IsRefused() {
        byte[] text = field(1, bytes(0xff, 0xfe));

        assertThatThrownBy(() -> codec.parse(StringValue.class, text, 0, text.length))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("UTF-8");
    }

    @Test
    void everyInputIsReadOrRefused() {
        List<byte[]> honest = new ArrayList<>(bombs(200).values());
        honest.add(Struct.newBuilder()
                .putFields("a", Value.newBuilder().setNumberValue(1).build())
                .putFields("b", Value.newBuilder().setStringValue("x").build())
                .build()
                .toByteArray());
        honest.add(DescriptorProto.getDescriptor().getFile().toProto().toByteArray());
        honest.add(Item.newBuilder()
                .setName("tea")
                .putStock("here", -1L)
                .addTags("a")
                .setPart(Item.newBuilder().setName("leaf"))
                .build()
                .toByteArray());
        honest.add(Page.newBuilder()
                .addRows(Row.newBuilder().setColour(Colour.RED).addStripes(Colour.GREEN))
                .addBox(Page.Box.newBuilder().setRow(Row.newBuilder().setId(1)))
                .putNamed("a", Row.newBuilder().setNext(Row.newBuilder()).build())
                .build()
                .toByteArray());
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            pieces.add(bytes(i));
            pieces.add(bytes(i, 0));
            pieces.add(joined(varint((long) i << 3 | 2), bytes(1, 'x')));
        }

        new Fuzz("protobuf", honest, pieces).run(input -> {
            Class<?> type = TYPES.get(Math.floorMod(Arrays.hashCode(input), TYPES.size()));
            UnknownFields counted = UnknownFields.count(KNOWN.get(type), input, 0, input.length);
            Message read = read(type, input);
            if (read != null) {
                assertThat(sets(read)).isLessThanOrEqualTo(counted.fields() + counted.messagesWithValues());
            }
        });
    }

    /** Returns the number of UnknownFieldSets in a message. */
    private static int sets(Message message) {
        int sets = sets(message.getUnknownFields());
        for (Object value : message.getAllFields().values()) {
            for (Object element : value instanceof List<?> list ? list : List.of(value)) {
                if (element instanceof Message inside) {
                    sets += sets(inside);
                }
            }
        }
        return sets;
    }

    private static int sets(UnknownFieldSet unknown) {
        int sets = unknown.asMap().isEmpty() ? 0 : 1;
        for (UnknownFieldSet.Field field : unknown.asMap().values()) {
            for (UnknownFieldSet group : field.getGroupList()) {
                sets += sets(group);
            }
        }
        return sets;
    }
}
