package tern.rpc.serialization.protobuf;

/**
 * Estimates the memory of the tree that protobuf-java-util creates from a JSON text. The estimate is made before the
 * tree exists. The tree also contains JSON members that the message class does not declare. Two bytes of text can
 * become a node of 86 bytes, so a text of a few megabytes could otherwise fill a small heap.
 */
final class TreeEstimate {

    // the size of an empty object in the tree, and of the message created from it
    private static final int OBJECT_BYTES = 250;
    private static final int ARRAY_BYTES = 100; // the size of an empty array with room for ten elements
    // the size of a number, which the tree stores as text, and of its slot in an array
    private static final int VALUE_BYTES = 100;
    private static final int MEMBER_BYTES = 100; // the size of a member's name and of its map entry

    private TreeEstimate() {}

    /** Returns the approximate memory of the tree and its text in bytes. */
    static long bytes(String json) {
        long bytes = json.length();
        boolean isText = false;
        for (int i = 0; i < json.length(); i++) {
            char next = json.charAt(i);
            if (next == '"') {
                isText = !isText;
            } else if (isText) {
                i += next == '\\' ? 1 : 0;
            } else {
                bytes += bytesAfter(next);
            }
        }
        return bytes;
    }

    private static int bytesAfter(char next) {
        return switch (next) {
            case '{' -> OBJECT_BYTES;
            case '[' -> ARRAY_BYTES;
            case ',' -> VALUE_BYTES;
            case ':' -> MEMBER_BYTES;
            default -> 0;
        };
    }
}
