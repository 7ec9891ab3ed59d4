package tern.rpc.serialization.protobuf;

import com.google.protobuf.WireFormat;

/**
 * How much of a message its class does not know, counted in one pass over the bytes that makes no other object. What is
 * no message ends the count and nothing else, as its parser gets no further; where the two could differ, this reads on.
 *
 * <p>protobuf keeps what it does not know in a tree for each message, which takes half a kilobyte and more for the two
 * bytes of a field. Honest messages have some from peers of a newer version: hence the bounds, which grow with the size.
 */
final class UnknownFields {

    /** Free of charge, whatever the size: some milliseconds and two MiB. */
    private static final int FREE = 4_096;

    /** Kept beyond that, one for so many bytes: the other fields of a small message. */
    private static final int BYTES_OF_A_FIELD = 16;

    /** Read beyond that, one for so many bytes: a message of a new value of its enum and anything else. */
    private static final int BYTES_OF_A_MESSAGE = 8;

    /** What an unknown field that is counted takes on the wire. */
    private static final int MIN_BYTES = 2;

    private final byte[] bytes;
    private final int length;
    private int position;
    private int fields;
    private int messagesWithValues;

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

    /** Whether so many bytes can hold more than is kept; else there is no need to count. */
    static boolean canBeTooMany(int length) {
        return length > MIN_BYTES * FREE;
    }

    /** Unknown fields, once where several of one number follow each other: those share what keeps them. */
    int fields() {
        return fields;
    }

    /** How many of these are kept. */
    int mostFields() {
        return FREE + length / BYTES_OF_A_FIELD;
    }

    /** Messages with a number that their enum does not know, which is kept even by those that drop unknown fields. */
    int messagesWithValues() {
        return messagesWithValues;
    }

    int mostMessagesWithValues() {
        return FREE + length / BYTES_OF_A_MESSAGE;
    }

    /** @param group the number of the group that ends this, zero for what ends with its bytes */
    private void message(KnownFields known, int end, int group, int depth) {
        if (depth > ProtobufCodec.MAX_DEPTH) {
            stop();
            return;
        }
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

    /** Over what nearly all messages are made of, in a loop that keeps its place to itself. */
    private void passOverPlain(KnownFields known, int end) {
        int at = position;
        int next = at;
        while (next < end) {
            at = next;
            next = behindPlain(known, at, end);
        }
        position = next == end ? end : at;
    }

    /** More than the end for a field that has to be looked at more closely. */
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

    /** Behind the bytes whose length stands here. */
    private int endOfPart(int end) {
        int count = varint(end);
        if (count < 0 || count > end - position) {
            stop();
            return position;
        }
        return position + count;
    }

    /** The low 32 bits of a number of ten bytes at the most. */
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

    /** Nothing is in front of any end now, so every loop is left. */
    private void stop() {
        position = Integer.MAX_VALUE;
    }
}
