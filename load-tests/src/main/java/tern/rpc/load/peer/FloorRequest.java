package tern.rpc.load.peer;

import java.nio.ByteBuffer;

/**
 * A request, encoded in the first bytes of a payload.
 *
 * @param answerBytes the size of the answer's payload
 * @param builds how many times the server builds a string before it answers
 */
record FloorRequest(int answerBytes, int builds) {

    static FloorRequest read(byte[] payload) {
        ByteBuffer in = ByteBuffer.wrap(payload);
        return new FloorRequest(in.getInt(), in.getInt());
    }

    /** Returns a payload of {@code bytes} bytes that begins with the request. */
    byte[] payload(int bytes) {
        return ByteBuffer.allocate(bytes).putInt(answerBytes).putInt(builds).array();
    }
}
