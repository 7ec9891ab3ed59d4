package tern.rpc.load.peer;

import java.nio.ByteBuffer;

/**
 * What a payload of the floor asks for, in its first bytes.
 *
 * @param answerBytes of the answer's payload
 * @param builds how often the server builds its text before
 */
record FloorRequest(int answerBytes, int builds) {

    static FloorRequest read(byte[] payload) {
        ByteBuffer in = ByteBuffer.wrap(payload);
        return new FloorRequest(in.getInt(), in.getInt());
    }

    /** A payload with that request in it, and that long. */
    byte[] payload(int bytes) {
        return ByteBuffer.allocate(bytes).putInt(answerBytes).putInt(builds).array();
    }
}
