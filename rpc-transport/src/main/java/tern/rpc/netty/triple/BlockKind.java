package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;

/**
 * The effect of a header block (RFC 7541, 6) besides its fields. It is found from the structure alone, without decoding
 * texts.
 */
enum BlockKind {
    /** The block only refers to known fields or contains texts that leave the table unchanged. */
    MAY_BE_KEPT,

    /** Like {@link #MAY_BE_KEPT}, but a text of the block must never be stored (6.2.3). */
    SECRET,

    /** The block adds a field to the table or changes its size, or is malformed or too unusual to decide. */
    CHANGES_THE_TABLE;

    /** The first bits of indexed fields, of added fields, and of a new table size. */
    private static final int INDEXED = Http2Frames.INDEXED;

    private static final int CHANGING = Http2Frames.REMEMBERED | Http2Frames.TABLE_SIZE;

    private static final int INDEX_BITS = 7;
    private static final int NAME_BITS = 4;
    private static final int TEXT_BITS = 7; // number of bits of a text's length, after the bit for Huffman coding

    /**
     * @param block a buffer whose readable bytes are the block; they stay unread
     */
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

    /** The position after the number; beyond the end if it is incomplete. */
    private static int afterNumber(ByteBuf block, int start, int end, int bits) {
        int at = start;
        if ((block.getByte(at) & ones(bits)) == ones(bits)) {
            do {
                at++;
            } while (at < end && block.getByte(at) < 0);
        }
        return at < end ? at + 1 : end + 1;
    }

    /** The position after the text; beyond the end if it is incomplete, or its length needs more than one byte. */
    private static int afterText(ByteBuf block, int start, int end) {
        if (start >= end) {
            return end + 1;
        }
        int bytes = block.getByte(start) & ones(TEXT_BITS);
        return bytes == ones(TEXT_BITS) ? end + 1 : start + 1 + bytes;
    }
}
