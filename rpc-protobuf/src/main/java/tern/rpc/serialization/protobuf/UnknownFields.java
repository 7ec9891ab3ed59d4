package tern.rpc.serialization.protobuf;

import com.google.protobuf.WireFormat;

/**
 * Counts the unknown fields of a message and estimates the memory of its objects. Both results are computed in a single
 * pass over the bytes, without creating objects. Counting ends at invalid bytes, because the parser also stops there.
 * If it is unclear whether the parser would stop, counting continues.
 *
 * <p>protobuf keeps the unknown fields of each message in a tree, which takes at least half a kilobyte even for one
 * field of two bytes. Messages from newer peers normally contain some unknown fields, so the limits grow with the size
 * of the message.
 */
final class UnknownFields {

    /**
     * The number of unknown fields that every message may contain, regardless of its size. Decoding them takes a few
     * milliseconds and 2 MiB.
     */
    private static final int FREE = 4_096;

    /**
     * For every {@value} bytes of the message, one unknown field is kept, in addition to {@link #FREE}. A known field
     * that is a small message takes about the same number of bytes.
     */
    private static final int BYTES_OF_A_FIELD = 16;

    /** For every {@value} bytes, one message with an unknown enum number is accepted, in addition to {@link #FREE}. */
    private static final int BYTES_OF_A_MESSAGE = 8;

    /** The approximate memory overhead of a string or byte string, beyond its content, in bytes. */
    private static final int TEXT_BYTES = 56;

    /** The minimum encoded size of an unknown field, in bytes. */
    private static final int MIN_BYTES = 2;

    private final byte[] bytes;
    private final int length;
    private int position;
    private int fields;
    private int messagesWithValues;
    private long messageBytes;
    private int texts;

    private UnknownFields(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.length = length;
        this.position = offset;
    }

    static UnknownFields count(KnownFields known, byte[] bytes, int offset, int length) {
        UnknownFields unknown = new UnknownFields(bytes, offset, length);
        unknown.message(known, offset + length, 0, 0);
        return unknown;
    }

    /**
     * Returns whether a message of this length can contain too many unknown fields. If so, the fields must be counted.
     */
    static boolean canBeTooMany(int length) {
        return length > MIN_BYTES * FREE;
    }

    /**
     * The number of unknown fields. Consecutive fields with the same field number are counted as one, because protobuf
     * stores them together.
     */
    int fields() {
        return fields;
    }

    /** The maximum number of unknown fields that are kept. */
    int mostFields() {
        return FREE + length / BYTES_OF_A_FIELD;
    }

    /** The approximate memory of the decoded objects, in bytes. */
    long objectBytes() {
        return length + messageBytes + (long) texts * TEXT_BYTES;
    }

    /**
     * The number of messages that contain an unknown enum number. The parser keeps these numbers even if it drops
     * unknown fields.
     */
    int messagesWithValues() {
        return messagesWithValues;
    }

    int mostMessagesWithValues() {
        return FREE + length / BYTES_OF_A_MESSAGE;
    }

    /**
     * @param group the field number of the group whose end tag ends this message; zero if the message ends at
     *     {@code end}
     */
    private void message(KnownFields known, int end, int group, int depth) {
        if (depth > ProtobufCodec.MAX_DEPTH) {
            stop();
            return;
        }
        messageBytes += known.objectBytes();
        int previous = 0;
        boolean hasUnknownValue = false;
        for (passOverPlain(known, end); position < end; passOverPlain(known, end)) {
            int tag = varint(end);
            int number = WireFormat.getTagFieldNumber(tag);
            int wireType = WireFormat.getTagWireType(tag);
            if (number == 0) {
                stop();
                return;
            }
            if (wireType == WireFormat.WIRETYPE_END_GROUP) {
                if (number != group) {
                    stop();
                }
                return;
            }
            KnownFields.Field field = known.field(number, wireType);
            if (field == null) {
                if (known.keepsUnknown() && (number != previous || wireType == WireFormat.WIRETYPE_START_GROUP)) {
                    fields++;
                }
                previous = number;
                skip(number, wireType, end, depth);
            } else if (field.isClosedEnum()) {
                boolean unknown = hasUnknownValue(field, wireType, end);
                if (unknown && !hasUnknownValue && known.keepsUnknown()) {
                    messagesWithValues++;
                    hasUnknownValue = true;
                }
            } else {
                known(field, number, wireType, end, depth);
            }
        }
    }

    /**
     * Skips consecutive fields that need not be checked. For speed, the loop keeps the position in a local variable.
     */
    private void passOverPlain(KnownFields known, int end) {
        int at = position;
        int next = at;
        while (next < end) {
            at = next;
            next = behindPlain(known, at, end);
        }
        position = next == end ? end : at;
    }

    /**
     * Returns the position after the field if the field need not be checked. Returns Integer.MAX_VALUE if the field
     * must be checked in detail.
     */
    private int behindPlain(KnownFields known, int at, int end) {
        byte[] in = bytes;
        int next = at + 1;
        switch (known.plain(in[at])) {
            case KnownFields.VARINT -> {
                while (next < end && in[next] < 0) {
                    next++;
                }
                return next + 1;
            }
            case KnownFields.FIXED32 -> {
                return next + Integer.BYTES;
            }
            case KnownFields.FIXED64 -> {
                return next + Long.BYTES;
            }
            case KnownFields.LENGTH_DELIMITED -> {
                texts++;
                return next < end && in[next] >= 0 ? next + 1 + in[next] : Integer.MAX_VALUE;
            }
            default -> {
                return Integer.MAX_VALUE;
            }
        }
    }

    private void known(KnownFields.Field field, int number, int wireType, int end, int depth) {
        KnownFields inside = field.inside();
        if (inside == null) {
            skip(number, wireType, end, depth);
        } else if (wireType == WireFormat.WIRETYPE_START_GROUP) {
            message(inside, end, number, depth + 1);
        } else {
            message(inside, endOfPart(end), 0, depth + 1);
        }
    }

    private boolean hasUnknownValue(KnownFields.Field field, int wireType, int end) {
        if (wireType == WireFormat.WIRETYPE_VARINT) {
            return !field.hasValue(varint(end));
        }
        boolean unknown = false;
        for (int last = endOfPart(end); position < last; ) {
            unknown |= !field.hasValue(varint(last));
        }
        return unknown;
    }

    private void skip(int number, int wireType, int end, int depth) {
        switch (wireType) {
            case WireFormat.WIRETYPE_VARINT -> varint(end);
            case WireFormat.WIRETYPE_FIXED64 -> skip(Long.BYTES, end);
            case WireFormat.WIRETYPE_LENGTH_DELIMITED -> position = endOfPart(end);
            case WireFormat.WIRETYPE_START_GROUP -> message(KnownFields.NONE, end, number, depth + 1);
            case WireFormat.WIRETYPE_FIXED32 -> skip(Integer.BYTES, end);
            default -> stop();
        }
    }

    private void skip(int count, int end) {
        if (count > end - position) {
            stop();
        } else {
            position += count;
        }
    }

    /** Reads a length, and returns the end position of the content that has this length. */
    private int endOfPart(int end) {
        int count = varint(end);
        if (count < 0 || count > end - position) {
            stop();
            return position;
        }
        return position + count;
    }

    /** Reads a number up to ten bytes long and returns its low 32 bits. */
    private int varint(int end) {
        int value = 0;
        for (int shift = 0; shift < 70 && position < end; shift += 7) {
            byte next = bytes[position++];
            if (shift < Integer.SIZE) {
                value |= (next & 0x7F) << shift;
            }
            if (next >= 0) {
                return value;
            }
        }
        stop();
        return 0;
    }

    /** Moves the position beyond the end of the message and of all nested messages, which ends all loops. */
    private void stop() {
        position = Integer.MAX_VALUE;
    }
}
