package tern.rpc.serialization.hessian;

import java.util.Date;

/**
 * Decodes values that contain no other values: numbers, dates and binary data. The superclass decodes strings. Before
 * calling a method with the {@code tag} parameter, the caller reads the tag with {@link #next()}. Not thread-safe.
 */
final class HessianInput extends TextInput {

    /** Returns the number of consecutive one-byte ints that come next, but at most {@code max}. */
    int shortestInts(int max) {
        byte[] array = bytes;
        int first = position;
        int last = first + Math.min(max, end - first);
        int at = first;
        while (at < last && (array[at] & 0xc0) == 0x80) {
            at++;
        }
        return at - first;
    }

    /** Reads a one-byte int. */
    int shortestInt() {
        return (bytes[position++] & 0xff) - 0x90;
    }

    int intOf(int tag) {
        if (tag >= 0x80) {
            if (tag < 0xc0) {
                return tag - 0x90;
            }
            if (tag < 0xd0) {
                return ((tag - 0xc8) << 8) + next();
            }
            if (tag < 0xd8) {
                return ((tag - 0xd4) << 16) + unsignedShort();
            }
        } else if (tag == 'I') {
            return fourBytes();
        }
        throw unexpected(tag, "an int");
    }

    long longOf(int tag) {
        if (tag >= 0xf0) {
            return ((tag - 0xf8L) << 8) + next();
        }
        if (tag >= 0xd8) {
            return tag - 0xe0L;
        }
        if (tag >= 0x38 && tag <= 0x3f) {
            return ((tag - 0x3cL) << 16) + unsignedShort();
        }
        if (tag == 'Y') {
            return fourBytes();
        }
        if (tag == 'L') {
            return eightBytes();
        }
        throw unexpected(tag, "a long");
    }

    double doubleOf(int tag) {
        return switch (tag) {
            case 0x5b -> 0;
            case 0x5c -> 1;
            case 0x5d -> (byte) next();
            case 0x5e -> (short) unsignedShort();
            // The number is multiplied by 0.001 and not divided by 1,000, because writers use this encoding if the
            // product equals the double.
            case 0x5f -> 0.001 * fourBytes();
            case 'D' -> Double.longBitsToDouble(eightBytes());
            default -> throw unexpected(tag, "a double");
        };
    }

    Date dateOf(int tag) {
        return new Date(tag == 'J' ? eightBytes() : fourBytes() * 60_000L);
    }

    byte[] binaryOf(int tag) {
        int first = position;
        int length = skipChunks(tag);
        byte[] all = new byte[length];
        int last = position;
        position = first;
        copyBinary(tag, all);
        position = last;
        return all;
    }

    void skipBinary(int tag) {
        skipChunks(tag);
    }

    /** Returns the total length of all chunks in bytes and moves past them. */
    private int skipChunks(int tag) {
        int total = 0;
        int more = tag;
        while (more == 'A') {
            int chunk = unsignedShort();
            skip(chunk);
            total += chunk;
            more = next();
        }
        int chunk = lastBinaryLength(more);
        skip(chunk);
        return total + chunk;
    }

    private void copyBinary(int tag, byte[] to) {
        int filled = 0;
        int more = tag;
        while (more == 'A') {
            int chunk = unsignedShort();
            System.arraycopy(bytes, position, to, filled, chunk);
            position += chunk;
            filled += chunk;
            more = next();
        }
        int chunk = lastBinaryLength(more);
        System.arraycopy(bytes, position, to, filled, chunk);
    }

    private int lastBinaryLength(int tag) {
        if (tag >= 0x20 && tag <= 0x2f) {
            return tag - 0x20;
        }
        if (tag >= 0x34 && tag <= 0x37) {
            return ((tag - 0x34) << 8) + next();
        }
        if (tag == 'B') {
            return unsignedShort();
        }
        throw unexpected(tag, "bytes");
    }
}
