package tern.rpc.load.peer;

/**
 * The frame sizes of one kind of call. Tern's dubbo frames for the same values have the same sizes. A request
 * contains header, service, method, descriptor, arguments and attachments. An answer contains header, value and
 * attachments. {@code PeersTest} checks that the sizes are equal.
 */
record FloorFrames(int request, int answer) {

    static final FloorFrames EXIST_USER = new FloorFrames(214, 32);
    static final FloorFrames CREATE_USER = new FloorFrames(752, 32);
    static final FloorFrames GET_USER = new FloorFrames(191, 569);
    static final FloorFrames LIST_USER = new FloorFrames(192, 3_376);
    static final FloorFrames ECHO_PERSON = new FloorFrames(815, 636);
    static final FloorFrames BUILD = new FloorFrames(200, 1_058);

    /** The frame sizes of an echo call, excluding the encoded string. */
    private static final FloorFrames ECHO_TEXT = new FloorFrames(204, 31);

    /** The size of the chunks in which hessian2 sends a string of one-byte characters. */
    private static final int CHUNK = 0x8000;

    private static final int CHUNK_HEAD_BYTES = 3;

    /** Returns the frame sizes of an echo call for a string of {@code length} characters. */
    static FloorFrames ofText(int length) {
        int bytes = length + (length + CHUNK - 1) / CHUNK * CHUNK_HEAD_BYTES;
        return new FloorFrames(ECHO_TEXT.request + bytes, ECHO_TEXT.answer + bytes);
    }
}
