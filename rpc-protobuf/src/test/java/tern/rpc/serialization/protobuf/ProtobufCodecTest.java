package tern.rpc.serialization.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.Int64Value;
import com.google.protobuf.Message;
import com.google.protobuf.StringValue;
import com.google.protobuf.Timestamp;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.test.Item;
import tern.rpc.serialization.protobuf.test.ItemOrBuilder;
import tern.rpc.serialization.protobuf.test.Kind;
import tern.rpc.serialization.protobuf.test.Parcel;

class ProtobufCodecTest {

    private static final Item ITEM = Item.newBuilder()
            .setName("tea \u00e9")
            .setPriceCents(1L << 60)
            .setPicture(ByteString.copyFrom(new byte[] {1, 2, (byte) 0xff}))
            .setKind(Kind.BOOK)
            .addTags("a")
            .putStock("here", -1L)
            .setAdded(Timestamp.newBuilder().setSeconds(1_767_323_045L).setNanos(5_000_000))
            .setNote(StringValue.of("n"))
            .setPart(Item.newBuilder().setName("leaf"))
            .setWeight(1.5)
            .build();

    private final ProtobufCodec codec = new ProtobufCodec();
    private final OutputBuffer out = new OutputBuffer();

    private static Item nested(int levels) {
        Item item = Item.getDefaultInstance();
        for (int i = 1; i < levels; i++) {
            item = Item.newBuilder().setPart(item).build();
        }
        return item;
    }

    private static int position(OutputBuffer out, int limit) {
        out.reset(limit);
        out.write(7);
        return out.position();
    }

    @Test
    void aMessageComesBack() {
        int start = position(out, 1 << 20);

        codec.write(ITEM, out);

        assertThat(out.position() - start).isEqualTo(ITEM.getSerializedSize());
        assertThat(codec.parse(Item.class, out.array(), start, out.position() - start))
                .isEqualTo(ITEM);
    }

    @Test
    void bytesEqualTheBytesOfTheLibrary() {
        int start = position(out, 1 << 20);

        codec.write(StringValue.of("hi pb"), out);

        assertThat(Arrays.copyOfRange(out.array(), start, out.position()))
                .isEqualTo(new byte[] {0x0a, 5, 'h', 'i', ' ', 'p', 'b'})
                .isEqualTo(StringValue.of("hi pb").toByteArray());
    }

    @Test
    void anEmptyMessageHasNoBytes() {
        int start = position(out, 1);

        codec.write(Item.getDefaultInstance(), out);

        assertThat(out.position()).isEqualTo(start);
        assertThat(codec.parse(Item.class, new byte[0], 0, 0)).isEqualTo(Item.getDefaultInstance());
    }

    @Test
    void aMessageThatDoesNotFitLeavesTheBufferAsItWas() {
        int start = position(out, ITEM.getSerializedSize());

        assertThatThrownBy(() -> codec.write(ITEM, out)).isInstanceOf(MessageTooLargeException.class);
        assertThat(out.position()).isEqualTo(start);
    }

    @Test
    void depthIsBounded() {
        byte[] deep = nested(64).toByteArray();
        byte[] tooDeep = nested(66).toByteArray();

        assertThat(codec.parse(Item.class, deep, 0, deep.length)).isEqualTo(nested(64));
        assertThatThrownBy(() -> codec.parse(Item.class, tooDeep, 0, tooDeep.length))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("not a message " + Item.class.getName() + " (" + tooDeep.length + " bytes): ");
    }

    @Test
    void garbageIsRefused() {
        byte[] whole = ITEM.toByteArray();
        byte[] endOfGroup = {0x0a, 1, 'x', 0x0c};
        byte[] longClaim = {0x0a, (byte) 0xff, (byte) 0xff, (byte) 0xff, 0x7f, 'x'};
        byte[] badText = {0x0a, 1, (byte) 0xff};

        for (byte[] bytes : new byte[][] {endOfGroup, longClaim, badText, Arrays.copyOf(whole, whole.length - 1)}) {
            assertThatThrownBy(() -> codec.parse(Item.class, bytes, 0, bytes.length))
                    .isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void randomBytesAreAMessageOrRefused() {
        Random random = new Random(42);
        int refused = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            try {
                assertThat(codec.parse(Item.class, bytes, 0, bytes.length)).isInstanceOf(Item.class);
            } catch (SerializationException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1_000, 4_999);
    }

    @Test
    void messagesAreGeneratedClassesAlone() {
        assertThat(ProtobufCodec.isMessage(Item.class)).isTrue();
        assertThat(ProtobufCodec.isMessage(StringValue.class)).isTrue();
        assertThat(ProtobufCodec.isMessage(ItemOrBuilder.class)).isFalse();
        assertThat(ProtobufCodec.isMessage(Item.Builder.class)).isFalse();
        assertThat(ProtobufCodec.isMessage(Kind.class)).isFalse();
        assertThat(ProtobufCodec.isMessage(String.class)).isFalse();
        assertThat(ProtobufCodec.isMessage(int.class)).isFalse();
        assertThatThrownBy(() -> codec.prepare(Message.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "com.google.protobuf.Message is not a generated protobuf message class; declare such a class");
    }

    @Test
    void jsonIsTheCanonicalForm() {
        String json = codec.toJson(ITEM);

        assertThat(json)
                .isEqualTo("{\"name\":\"tea \u00e9\",\"priceCents\":\"1152921504606846976\",\"picture\":\"AQL/\","
                        + "\"kind\":\"BOOK\",\"tags\":[\"a\"],\"stock\":{\"here\":\"18446744073709551615\"},"
                        + "\"added\":\"2026-01-02T03:04:05.005Z\",\"note\":\"n\",\"part\":{\"name\":\"leaf\"},"
                        + "\"weight\":1.5}");
        assertThat(codec.fromJson(Item.class, json)).isEqualTo(ITEM);
        assertThat(codec.toJson(StringValue.of("pb"))).isEqualTo("\"pb\"");
        assertThat(codec.toJson(Int64Value.of(5))).isEqualTo("\"5\"");
        assertThat(codec.fromJson(StringValue.class, "\"pb\"")).isEqualTo(StringValue.of("pb"));
    }

    @Test
    void anyInJsonMayHoldTypesDeclaredOrImportedByTheFile() {
        for (Message content : new Message[] {ITEM, Timestamp.getDefaultInstance(), StringValue.of("s")}) {
            Parcel parcel = Parcel.newBuilder().setContent(Any.pack(content)).build();
            String json = codec.toJson(parcel);
            assertThat(json)
                    .contains("type.googleapis.com/"
                            + content.getDescriptorForType().getFullName());
            assertThat(codec.fromJson(Parcel.class, json)).isEqualTo(parcel);
        }
        Parcel foreign = Parcel.newBuilder()
                .setContent(Any.pack(Duration.getDefaultInstance()))
                .build();
        assertThatThrownBy(() -> codec.toJson(foreign))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(Parcel.class.getName() + " has no JSON form: it holds an Any");
        String json = "{\"content\":{\"@type\":\"type.googleapis.com/google.protobuf.Duration\",\"value\":\"1s\"}}";
        assertThatThrownBy(() -> codec.fromJson(Parcel.class, json))
                .isInstanceOf(SerializationException.class)
                .hasMessage("not the JSON form of message " + Parcel.class.getName());
    }

    @Test
    void jsonMayHaveUnknownFieldsAndNamesAsInTheProtoFile() {
        assertThat(codec.fromJson(Item.class, "{\"price_cents\":5,\"later\":{\"x\":[1]}}"))
                .isEqualTo(Item.newBuilder().setPriceCents(5).build());
    }

    @Test
    void jsonOfAnotherMessageIsRefusedWithoutTheValue() {
        for (String json : new String[] {"{\"weight\":\"secret\"}", "[\"secret\"]", "{\"kind\":{}}", "{secret", ""}) {
            assertThatThrownBy(() -> codec.fromJson(Item.class, json))
                    .isInstanceOf(SerializationException.class)
                    .hasMessage("not the JSON form of message " + Item.class.getName())
                    .hasNoCause();
        }
    }
}
