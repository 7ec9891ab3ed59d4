package tern.rpc.load.peer;

import java.nio.ByteBuffer;

/**
 * The request in the first bytes of a payload.
 *
 * @param answerBytes size of the answer's payload
 * @param builds number of times that the server builds its text first
 */
record FloorRequest(int answerBytes, int builds) {

    static FloorRequest read(byte[] payload) {
        ByteBuffer in = ByteBuffer.wrap(payload);
        return new FloorRequest(in.getInt(), in.getInt());
    }

    /** Returns a payload of this size that begins with the request. */
    byte[] payload(int bytes) {
        return ByteBuffer.allocate(bytes).putInt(answerBytes).putInt(builds).array();
    }
}
