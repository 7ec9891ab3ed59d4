package tern.rpc.serialization.hessian;

/**
 * The tags, which are the possible first bytes of a value. The bytecode map of the Hessian 2.0 grammar defines the
 * tags.
 */
final class Tags {

    static final int INVALID = 0;
    static final int NULL = 1;
    static final int BOOLEAN = 2;
    static final int INT = 3;
    static final int LONG = 4;
    static final int DOUBLE = 5;
    static final int DATE = 6;
    static final int TEXT = 7;
    static final int BINARY = 8;
    static final int LIST = 9;
    static final int MAP = 10;
    static final int OBJECT = 11;
    static final int DEFINITION = 12;
    static final int REFERENCE = 13;

    static final int END = 'Z';

    private static final byte[] KINDS = kinds();

    private Tags() {}

    static int kind(int tag) {
        return KINDS[tag];
    }

    private static byte[] kinds() {
        byte[] kinds = new byte[256];
        mark(kinds, 0x00, 0x1f, TEXT);
        mark(kinds, 0x20, 0x2f, BINARY);
        mark(kinds, 0x30, 0x33, TEXT);
        mark(kinds, 0x34, 0x37, BINARY);
        mark(kinds, 0x38, 0x3f, LONG);
        mark(kinds, 'A', 'B', BINARY);
        mark(kinds, 'C', 'C', DEFINITION);
        mark(kinds, 'D', 'D', DOUBLE);
        mark(kinds, 'F', 'F', BOOLEAN);
        mark(kinds, 'H', 'H', MAP);
        mark(kinds, 'I', 'I', INT);
        mark(kinds, 'J', 'K', DATE);
        mark(kinds, 'L', 'L', LONG);
        mark(kinds, 'M', 'M', MAP);
        mark(kinds, 'N', 'N', NULL);
        mark(kinds, 'O', 'O', OBJECT);
        mark(kinds, 'Q', 'Q', REFERENCE);
        mark(kinds, 'R', 'S', TEXT);
        mark(kinds, 'T', 'T', BOOLEAN);
        mark(kinds, 'U', 'X', LIST);
        mark(kinds, 'Y', 'Y', LONG);
        mark(kinds, 0x5b, 0x5f, DOUBLE);
        mark(kinds, 0x60, 0x6f, OBJECT);
        mark(kinds, 0x70, 0x7f, LIST);
        mark(kinds, 0x80, 0xd7, INT);
        mark(kinds, 0xd8, 0xff, LONG);
        return kinds;
    }

    private static void mark(byte[] kinds, int from, int to, int kind) {
        for (int tag = from; tag <= to; tag++) {
            kinds[tag] = (byte) kind;
        }
    }
}
