package tern.rpc.serialization.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.test.Item;
import tern.rpc.serialization.protobuf.test.skew.Colour;
import tern.rpc.serialization.protobuf.test.skew.Page;
import tern.rpc.serialization.protobuf.test.skew.Palette;
import tern.rpc.serialization.protobuf.test.skew.Row;
import tern.rpc.serialization.protobuf.test.skew.Skew;

/** Tests which fields are counted as unknown, and what happens if there are too many unknown fields. */
class UnknownFieldsTest {

    private static final int NEW_COLOUR = 77;

    /** An unknown field. No message in this test declares its field number. */
    private static final UnknownFieldSet NEW = numbers(9_000);

    private final List<String> warnings = new ArrayList<>();
    private final ProtobufCodec codec = new ProtobufCodec(warnings::add);

    private static UnknownFieldSet numbers(int... fields) {
        UnknownFieldSet.Builder all = UnknownFieldSet.newBuilder();
        for (int field : fields) {
            all.mergeVarintField(field, 1);
        }
        return all.build();
    }

    private static UnknownFieldSet group(int number, UnknownFieldSet inside) {
        return UnknownFieldSet.newBuilder()
                .addField(
                        number,
                        UnknownFieldSet.Field.newBuilder().addGroup(inside).build())
                .build();
    }

    private static Row strange() {
        return Row.newBuilder().setUnknownFields(NEW).build();
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    /**
     * Returns a list of {@code count} rows with the given content. The name of each row has {@code letters} letters.
     */
    private static byte[] rows(int count, int letters, Row row) {
        Row named = letters == 0
                ? row
                : row.toBuilder().setName("x".repeat(letters)).build();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            for (int i = 0; i < count; i++) {
                out.writeMessage(Page.ROWS_FIELD_NUMBER, named);
            }
            out.flush();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
    }

    private static UnknownFields count(Message like, byte[] bytes) {
        return UnknownFields.count(KnownFields.of(like.getDescriptorForType()), bytes, 0, bytes.length);
    }

    private static int fields(Message message) {
        return count(message, message.toByteArray()).fields();
    }

    private static int messagesWithValues(Message message) {
        return count(message, message.toByteArray()).messagesWithValues();
    }

    private Page read(byte[] bytes) {
        return (Page) codec.parse(Page.class, bytes, 0, bytes.length);
    }

    @Test
    void messageOfTheSameVersionHasNoUnknownFields() {
        Page page = Page.newBuilder()
                .addRows(Row.newBuilder().setId(1).setColour(Colour.RED).addStripes(Colour.GREEN))
                .putNamed("a", Row.newBuilder().setName("b").build())
                .addBox(Page.Box.newBuilder().setRow(Row.newBuilder().setId(2)))
                .setLast(Row.newBuilder().setNext(Row.newBuilder().setId(-1)))
                .build();

        assertThat(fields(page)).isZero();
        assertThat(messagesWithValues(page)).isZero();
    }

    @Test
    void fieldsOfOneNumberInARowCountOnce() {
        assertThat(fields(Item.newBuilder()
                        .setUnknownFields(numbers(100, 101, 500_000_000))
                        .build()))
                .isEqualTo(3);
        assertThat(fields(Item.newBuilder()
                        .setUnknownFields(numbers(100, 100, 100, 100))
                        .build()))
                .isEqualTo(1);
        byte[] inTurn = bytes(0x78, 1, 0x70, 1, 0x78, 1, 0x70, 1);
        assertThat(count(Item.getDefaultInstance(), inTurn).fields()).isEqualTo(4);
    }

    @Test
    void everyFormOfAnUnknownFieldIsPassedOver() {
        UnknownFieldSet.Field each = UnknownFieldSet.Field.newBuilder()
                .addVarint(-1)
                .addFixed32(1)
                .addFixed64(1)
                .addLengthDelimited(ByteString.copyFromUtf8("text"))
                .build();

        assertThat(fields(Item.newBuilder()
                        .setUnknownFields(UnknownFieldSet.newBuilder()
                                .addField(200, each)
                                .addField(201, each)
                                .build())
                        .setPart(Item.newBuilder().setUnknownFields(NEW))
                        .build()))
                .isEqualTo(3);
    }

    @Test
    void unknownGroupCountsWithItsContent() {
        assertThat(fields(Item.newBuilder()
                        .setUnknownFields(group(200, group(201, numbers(1, 2))))
                        .build()))
                .isEqualTo(4);
        byte[] emptyGroups = bytes(0x7b, 0x7c, 0x7b, 0x7c, 0x7b, 0x7c);
        assertThat(count(Item.getDefaultInstance(), emptyGroups).fields()).isEqualTo(3);
    }

    @Test
    void aKnownNumberInAnotherFormIsUnknown() {
        byte[] nameAsNumber = bytes(0x08, 1);
        byte[] priceInOneField = bytes(0x12, 1, 1);
        byte[] partAsGroup = bytes(0x4b, 0x4c);

        for (byte[] bytes : new byte[][] {nameAsNumber, priceInOneField, partAsGroup}) {
            assertThat(count(Item.getDefaultInstance(), bytes).fields()).isEqualTo(1);
        }
    }

    @Test
    void listsOfNumbersAreKnownInBothForms() {
        byte[] one = bytes(0x08, 1, 0x08, 2);
        byte[] packed = bytes(0x0a, 2, 1, 2);

        assertThat(count(Location.getDefaultInstance(), one).fields()).isZero();
        assertThat(count(Location.getDefaultInstance(), packed).fields()).isZero();
    }

    @Test
    void nestedMessagesAreCheckedAtAnyPosition() {
        assertThat(fields(Page.newBuilder()
                        .addRows(strange())
                        .addRows(strange())
                        .addRows(Row.newBuilder().setNext(strange()))
                        .putNamed("a", strange())
                        .addBox(Page.Box.newBuilder().setRow(strange()))
                        .addBox(Page.Box.newBuilder().setUnknownFields(NEW))
                        .setLast(strange())
                        .setUnknownFields(NEW)
                        .build()))
                .isEqualTo(8);
    }

    @Test
    void extensionsAreUnknown() {
        assertThat(fields(Row.newBuilder().setExtension(Skew.maker, "us").build()))
                .isEqualTo(1);
    }

    /** A map entry has no unknown fields, because its parser skips them without creating a set for them. */
    @Test
    void entriesOfMapsHaveNoUnknownFields() {
        byte[] entryOfThree = bytes(0x12, 5, 0x0a, 1, 'k', 0x18, 1);
        byte[] newColour = bytes(0x0a, 5, 0x0a, 1, 'k', 0x10, NEW_COLOUR);

        assertThat(count(Page.getDefaultInstance(), entryOfThree).fields()).isZero();
        assertThat(count(Palette.getDefaultInstance(), newColour).messagesWithValues())
                .isZero();
    }

    @Test
    void messagesWithNewNumbersOfClosedEnumsAreCounted() {
        byte[] twice = bytes(0x10, NEW_COLOUR, 0x10, NEW_COLOUR);
        byte[] packed = bytes(0x1a, 3, 1, NEW_COLOUR, 2);
        byte[] inTwoRows = bytes(0x0a, 2, 0x10, NEW_COLOUR, 0x0a, 2, 0x10, 1, 0x0a, 2, 0x10, NEW_COLOUR);

        assertThat(count(Row.getDefaultInstance(), twice).messagesWithValues()).isEqualTo(1);
        assertThat(count(Row.getDefaultInstance(), packed).messagesWithValues()).isEqualTo(1);
        assertThat(count(Page.getDefaultInstance(), inTwoRows).messagesWithValues())
                .isEqualTo(2);
        assertThat(messagesWithValues(Item.newBuilder().setKindValue(NEW_COLOUR).build()))
                .isZero();
    }

    @Test
    void depthIsBoundedAsByTheParser() {
        Row row = strange();
        for (int depth = 1; depth <= 64; depth++) {
            row = Row.newBuilder().setNext(row).build();
        }
        byte[] deepest = row.toByteArray();
        byte[] tooDeep = Row.newBuilder().setNext(row).build().toByteArray();
        byte[] groups = new byte[100_000];
        Arrays.fill(groups, (byte) 0x7b);

        assertThat(codec.parse(Row.class, deepest, 0, deepest.length)).isEqualTo(row);
        assertThat(count(row, deepest).fields()).isEqualTo(1);
        assertThat(count(row, tooDeep).fields()).isZero();
        assertThat(count(row, groups).fields()).isBetween(64, 66);
    }

    @Test
    void malformedMessageEndsTheCount() {
        byte[] whole = Page.newBuilder()
                .addRows(strange())
                .addBox(Page.Box.newBuilder().setRow(strange()))
                .setUnknownFields(group(200, numbers(1)))
                .build()
                .toByteArray();
        int counted = count(Page.getDefaultInstance(), whole).fields();
        assertThat(counted).isEqualTo(4);

        for (int length = 0; length < whole.length; length++) {
            assertThat(count(Page.getDefaultInstance(), Arrays.copyOf(whole, length))
                            .fields())
                    .isBetween(0, counted);
        }
        for (byte[] bytes : new byte[][] {
            bytes(0x00), // the field number is invalid
            bytes(0x0a, 0x7f), // the length exceeds the message
            bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), // the length is negative
            bytes(0x7f), // the wire type is invalid
            bytes(0x7c), // a group ends that has not started
            bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01) // the number exceeds ten bytes
        }) {
            assertThat(count(Page.getDefaultInstance(), bytes).fields()).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void unknownFieldsAreKeptUpToTheBoundAndDroppedAboveIt() {
        // The rows have six bytes each, and the limit is 4,096 unknown fields plus one for every 16 bytes.
        int most = 6_553;
        byte[] asMany = rows(most, 0, strange());
        byte[] oneMore = rows(most + 1, 0, strange());

        assertThat(read(asMany).toByteArray()).isEqualTo(asMany);
        assertThat(warnings).isEmpty();
        Page without = read(oneMore);
        assertThat(without.getRowsList()).hasSize(most + 1).containsOnly(Row.getDefaultInstance());
        assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("message " + Page.class.getName() + " (" + oneMore.length + " bytes) has " + (most + 1)
                        + " fields that its class does not know, more than the " + most
                        + " that are kept; they were dropped");
    }

    @Test
    void longListOfSmallItemsOfANewerVersionIsRead() {
        for (int letters : new int[] {0, 1, 3, 10, 30}) {
            byte[] bytes = rows(100_000, letters, strange());
            warnings.clear();

            Page page = read(bytes);

            assertThat(page.getRowsList()).hasSize(100_000);
            assertThat(page.getRows(99_999).getName()).hasSize(letters);
            boolean kept = page.getRows(0).getUnknownFields().hasField(9_000);
            assertThat(kept).isEqualTo(letters >= 10);
            assertThat(warnings).hasSize(kept ? 0 : 1);
        }
    }

    @Test
    void longListOfOneUnknownFieldIsKept() {
        int[] list = new int[100_000];
        Arrays.fill(list, 9_000);
        Page page = Page.newBuilder().setUnknownFields(numbers(list)).build();

        assertThat(read(page.toByteArray())).isEqualTo(page);
        assertThat(warnings).isEmpty();
    }

    @Test
    void newNumbersOfClosedEnumsAreLimitedByTheBytesOfTheMessage() {
        Row row = Row.newBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .mergeVarintField(Row.COLOUR_FIELD_NUMBER, NEW_COLOUR)
                        .build())
                .build();
        byte[] honest = rows(100_000, 2, row);
        byte[] bomb = rows(100_000, 0, row);

        assertThat(read(honest).toByteArray()).isEqualTo(honest);
        assertThat(warnings).isEmpty();
        assertThatThrownBy(() -> read(bomb))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("message " + Page.class.getName() + " (" + bomb.length
                        + " bytes) has 100000 parts with a number that their enum does not have, more than the "
                        + (4_096 + bomb.length / 8) + " that are read");
    }

    @Test
    void droppedFieldDoesNotHideAMalformedRest() {
        byte[] bomb = rows(100_000, 0, strange());
        byte[] cut = Arrays.copyOf(bomb, bomb.length - 1);

        assertThatThrownBy(() -> read(cut))
                .isInstanceOf(SerializationException.class)
                .hasMessageStartingWith("not a message " + Page.class.getName() + " (" + cut.length + " bytes): ");
    }

    @Test
    void codecWithoutAWarningListenerReadsUnknownFields() {
        byte[] bytes = rows(10_000, 0, strange());

        assertThatCode(() -> new ProtobufCodec().parse(Page.class, bytes, 0, bytes.length))
                .doesNotThrowAnyException();
    }

    @Test
    void memoryOfTheObjectsIsEstimatedFromTheirNumberAndNotFromTheirBytes() {
        int count = 1_000;
        byte[] emptyRows = rows(count, 0, Row.getDefaultInstance());
        byte[] namedRows = rows(count, 1, Row.getDefaultInstance());

        long page = 40 + 4 * 6;
        long row = 40 + 5 * 6;
        assertThat(count(Page.getDefaultInstance(), emptyRows).objectBytes())
                .isEqualTo(emptyRows.length + page + count * row);
        assertThat(count(Page.getDefaultInstance(), namedRows).objectBytes())
                .isEqualTo(namedRows.length + page + count * (row + 56));
    }
}
