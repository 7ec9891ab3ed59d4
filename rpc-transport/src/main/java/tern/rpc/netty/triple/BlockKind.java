package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;

/**
 * Classifies a header block (RFC 7541, 6) by its effect on the dynamic table. Only the structure of the block is
 * parsed; its strings are not decoded.
 */
enum BlockKind {
    /** The block leaves the dynamic table unchanged and may be cached. */
    MAY_BE_KEPT,

    /**
     * The block leaves the dynamic table unchanged but contains a field that must never be indexed (RFC 7541, 6.2.3),
     * so the block is not cached.
     */
    SECRET,

    /** The block adds a field to the dynamic table or changes the table's size, or its effect cannot be determined. */
    CHANGES_THE_TABLE;

    /** The first bit of an indexed field. */
    private static final int INDEXED = Http2Frames.INDEXED;

    private static final int CHANGING = Http2Frames.REMEMBERED | Http2Frames.TABLE_SIZE;

    private static final int INDEX_BITS = 7;
    private static final int NAME_BITS = 4;
    // the first byte of a string contains the Huffman bit and seven bits of the string's length
    private static final int TEXT_BITS = 7;

    /** @param block the header block; its reader index does not change */
    static BlockKind of(ByteBuf block) {
        BlockKind kind = MAY_BE_KEPT;
        int end = block.writerIndex();
        int at = block.readerIndex();
        while (at < end) {
            int first = block.getByte(at);
            if ((first & INDEXED) != 0) {
                at = afterNumber(block, at, end, INDEX_BITS);
            } else if ((first & CHANGING) != 0) {
                return CHANGES_THE_TABLE;
            } else {
                if ((first & Http2Frames.NEVER_REMEMBERED) != 0) {
                    kind = SECRET;
                }
                boolean namedByIndex = (first & ones(NAME_BITS)) != 0;
                at = namedByIndex ? afterNumber(block, at, end, NAME_BITS) : afterText(block, at + 1, end);
                at = afterText(block, at, end);
            }
        }
        return at == end ? kind : CHANGES_THE_TABLE;
    }

    private static int ones(int bits) {
        return (1 << bits) - 1;
    }

    /**
     * Returns the position after the integer that begins at {@code start}, or a position beyond the end if the integer
     * is incomplete.
     */
    private static int afterNumber(ByteBuf block, int start, int end, int bits) {
        int at = start;
        if ((block.getByte(at) & ones(bits)) == ones(bits)) {
            do {
                at++;
            } while (at < end && block.getByte(at) < 0);
        }
        return at < end ? at + 1 : end + 1;
    }

    /**
     * Returns the position after the string that begins at {@code start}, or a position beyond the end if the string is
     * incomplete or its length occupies more than one byte.
     */
    private static int afterText(ByteBuf block, int start, int end) {
        if (start >= end) {
            return end + 1;
        }
        int bytes = block.getByte(start) & ones(TEXT_BITS);
        return bytes == ones(TEXT_BITS) ? end + 1 : start + 1 + bytes;
    }
}
