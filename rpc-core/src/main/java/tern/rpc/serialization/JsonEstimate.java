package tern.rpc.serialization;

/**
 * Estimates the memory of the objects that a JSON text describes, before the objects are created. Three bytes of text
 * can describe an object of more than 60 bytes. Without a check, a text of a few megabytes could therefore fill a small
 * heap.
 */
public final class JsonEstimate {

    private static final int OBJECT_BYTES = 64; // the bytes of an empty LinkedHashMap and its slot in a list
    private static final int ARRAY_BYTES = 40;
    private static final int VALUE_BYTES = 24; // the bytes of a boxed number and its slot in a list
    // the bytes of an entry of a LinkedHashMap and its slot in the hash table
    private static final int MEMBER_BYTES = 48;

    /**
     * The estimated memory is multiplied by this factor. Decoding also needs a character buffer, and the objects of a
     * class with many fields are larger than the estimate.
     */
    private static final int MARGIN = 4;

    private JsonEstimate() {}

    /**
     * Returns the memory to reserve for a request's objects, in bytes.
     *
     * @throws SerializationException if the objects do not fit into a quarter of the heap
     */
    public static long maxBytes(byte[] json, int length) {
        if (!LargeMessages.isChecked(length)) {
            return 0;
        }
        long bytes = bytes(json, 0, length);
        LargeMessages.checkObjects(bytes, length);
        return Math.min(LargeMessages.maxObjectBytes(length), MARGIN * bytes);
    }

    /** @throws SerializationException if the objects do not fit into a quarter of the heap */
    public static void check(byte[] json, int offset, int length) {
        if (LargeMessages.isChecked(length)) {
            LargeMessages.checkObjects(bytes(json, offset, length), length);
        }
    }

    /** Returns the approximate memory of the objects in bytes. */
    static long bytes(byte[] json, int offset, int length) {
        long bytes = length;
        int end = offset + length;
        for (int i = offset; i < end; i++) {
            switch (json[i]) {
                case '"' -> i = endOfText(json, i + 1, end);
                case ',' -> bytes += VALUE_BYTES;
                case ':' -> bytes += MEMBER_BYTES;
                case '{' -> bytes += OBJECT_BYTES;
                case '[' -> bytes += ARRAY_BYTES;
                default -> {
                    // the character is whitespace, or part of a number or a literal
                }
            }
        }
        return bytes;
    }

    /** Returns the index of the quotation mark that ends a text, or the end of the message. */
    private static int endOfText(byte[] json, int start, int end) {
        int i = start;
        while (i < end && json[i] != '"') {
            i += json[i] == '\\' ? 2 : 1;
        }
        return i;
    }
}
