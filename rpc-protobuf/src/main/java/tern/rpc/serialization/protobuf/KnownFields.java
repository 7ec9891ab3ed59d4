package tern.rpc.serialization.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.WireFormat;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The fields that a message class's parser recognizes, by field number and wire type. The fields of a nested message
 * are computed on first use. Thread-safe.
 */
final class KnownFields {

    /** The empty set of known fields, used for an unknown group. */
    static final KnownFields NONE = new KnownFields(true, List.of(), Map.of());

    /**
     * Marks a tag byte in two cases: it begins a multi-byte tag, or its field is unknown, has nested fields or is a
     * closed enum.
     */
    static final byte OTHER = 0;

    /** Marks a tag byte that begins a known field with the wire type VARINT. The field is skipped without a check. */
    static final byte VARINT = 1;

    static final byte FIXED32 = 2;
    static final byte FIXED64 = 3;
    static final byte LENGTH_DELIMITED = 4;

    // the approximate memory of a KnownFields object and of its slot in a list, in bytes
    private static final int MESSAGE_BYTES = 40;
    private static final int FIELD_BYTES = 6;

    private final boolean keepsUnknown;
    // the wire type, or OTHER, for each one-byte tag; the tag is the index
    private final byte[] plain = new byte[1 << Byte.SIZE];
    private final int[] numbers; // the field numbers in ascending order
    private final Field[] fields; // the fields in ascending order of their field numbers

    private KnownFields(boolean keepsUnknown, List<FieldDescriptor> fields, Map<Descriptor, KnownFields> others) {
        this.keepsUnknown = keepsUnknown;
        this.numbers = fields.stream().mapToInt(FieldDescriptor::getNumber).toArray();
        this.fields = fields.stream().map(field -> new Field(field, others)).toArray(Field[]::new);
        for (int tag = 0; tag <= Byte.MAX_VALUE; tag++) {
            Field field = field(WireFormat.getTagFieldNumber(tag), WireFormat.getTagWireType(tag));
            plain[tag] = field == null || !field.isPlain() ? OTHER : form(WireFormat.getTagWireType(tag));
        }
    }

    private static byte form(int wireType) {
        return switch (wireType) {
            case WireFormat.WIRETYPE_VARINT -> VARINT;
            case WireFormat.WIRETYPE_FIXED32 -> FIXED32;
            case WireFormat.WIRETYPE_FIXED64 -> FIXED64;
            case WireFormat.WIRETYPE_LENGTH_DELIMITED -> LENGTH_DELIMITED;
            default -> OTHER;
        };
    }

    static KnownFields of(Descriptor message) {
        return of(message, new ConcurrentHashMap<>());
    }

    private static KnownFields of(Descriptor message, Map<Descriptor, KnownFields> others) {
        return others.computeIfAbsent(
                message,
                added -> new KnownFields(
                        !added.getOptions().getMapEntry(),
                        added.getFields().stream()
                                .sorted(Comparator.comparingInt(FieldDescriptor::getNumber))
                                .toList(),
                        others));
    }

    /**
     * Returns whether the parser keeps unknown fields. The result is false for a map entry, whose parser skips unknown
     * fields.
     */
    boolean keepsUnknown() {
        return keepsUnknown;
    }

    /** Returns the approximate memory of a message in bytes, excluding the objects that it refers to. */
    int objectBytes() {
        return MESSAGE_BYTES + FIELD_BYTES * fields.length;
    }

    /**
     * Returns the wire type of the known field that begins with this byte, or {@link #OTHER} if the byte does not
     * determine the wire type.
     */
    byte plain(byte first) {
        return plain[first & 0xFF];
    }

    /**
     * Returns the field that the parser would decode for this tag; null if the parser does not recognize the field
     * number, or expects another wire type.
     */
    @Nullable
    Field field(int number, int wireType) {
        // Most messages number their fields from one without gaps. In these messages, the index of a field is its
        // number minus one.
        int place = number - 1;
        if (place < 0 || place >= numbers.length || numbers[place] != number) {
            place = Arrays.binarySearch(numbers, number);
        }
        return place >= 0 && fields[place].comesAs(wireType) ? fields[place] : null;
    }

    /** One field. Thread-safe. */
    static final class Field {

        private final int wireType;
        private final boolean packable;
        private final @Nullable EnumDescriptor closedEnum;
        private final @Nullable Descriptor message;
        private final Map<Descriptor, KnownFields> others;
        // Several threads can compute the value concurrently, with the same result.
        private @Nullable KnownFields inside;

        private Field(FieldDescriptor field, Map<Descriptor, KnownFields> others) {
            this.wireType = field.getLiteType().getWireType();
            this.packable = field.isPackable();
            this.closedEnum = field.getJavaType() == JavaType.ENUM && field.legacyEnumFieldTreatedAsClosed()
                    ? field.getEnumType()
                    : null;
            this.message = field.getJavaType() == JavaType.MESSAGE ? field.getMessageType() : null;
            this.others = others;
        }

        private boolean comesAs(int given) {
            return given == wireType || (packable && given == WireFormat.WIRETYPE_LENGTH_DELIMITED);
        }

        /**
         * Returns the known fields of a nested message or group; null if this field is neither a message nor a group.
         */
        @Nullable
        KnownFields inside() {
            if (inside == null && message != null) {
                inside = of(message, others);
            }
            return inside;
        }

        private boolean isPlain() {
            return message == null && closedEnum == null;
        }

        boolean isClosedEnum() {
            return closedEnum != null;
        }

        /**
         * Returns whether the parser keeps this enum number as the field's value, instead of storing it as an unknown
         * field.
         *
         * @param number the enum value's number
         */
        boolean hasValue(int number) {
            return closedEnum == null || closedEnum.findValueByNumber(number) != null;
        }
    }
}
