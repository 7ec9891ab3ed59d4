package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;

/** What a block of headers (RFC 7541, 6) does beside telling its fields, found by its form alone: no text is read. */
enum BlockKind {
    /** It refers to fields that are known, and has texts that leave the table as it is. */
    MAY_BE_KEPT,

    /** Likewise, but one of its texts must not be kept anywhere (6.2.3). */
    SECRET,

    /** It adds a field to the table, or changes its size; or it is broken, or too unusual to be sure. */
    CHANGES_THE_TABLE;

    /** First bits of fields by index, of those to be added, and of a new size. */
    private static final int INDEXED = Http2Frames.INDEXED;

    private static final int CHANGING = Http2Frames.REMEMBERED | Http2Frames.TABLE_SIZE;

    private static final int INDEX_BITS = 7;
    private static final int NAME_BITS = 4;
    private static final int TEXT_BITS = 7; // behind that of Huffman's code

    /** @param block its readable bytes, which are left unread */
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

    /** Beyond the end if the number is not complete. */
    private static int afterNumber(ByteBuf block, int start, int end, int bits) {
        int at = start;
        if ((block.getByte(at) & ones(bits)) == ones(bits)) {
            do {
                at++;
            } while (at < end && block.getByte(at) < 0);
        }
        return at < end ? at + 1 : end + 1;
    }

    /** Beyond the end if the text is not complete, or so long that its length needs more than a byte. */
    private static int afterText(ByteBuf block, int start, int end) {
        if (start >= end) {
            return end + 1;
        }
        int bytes = block.getByte(start) & ones(TEXT_BITS);
        return bytes == ones(TEXT_BITS) ? end + 1 : start + 1 + bytes;
    }
}
