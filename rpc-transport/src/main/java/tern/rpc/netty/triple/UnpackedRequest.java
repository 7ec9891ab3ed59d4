package tern.rpc.netty.triple;

import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;

/**
 * Counts the decompressed bytes of one request in the server's memory budget for requests. Bytes are counted before
 * they are decompressed. The first 64 KiB are not counted. Only one thread at a time uses an instance.
 */
final class UnpackedRequest {

    /**
     * A request up to this size is not counted. Decoding a request of this size costs about as much as the rest of its
     * call.
     */
    static final int FREE_BYTES = 64 << 10;

    private static final int STEP_BYTES = 64 << 10;

    private final ServerConnection connection;
    private int counted;

    UnpackedRequest(ServerConnection connection) {
        this.connection = connection;
    }

    /**
     * Called before the decompressed message grows to the given size. Counts the additional bytes.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if the memory budget does not permit the message
     */
    void reaches(int bytes) {
        while (bytes > counted + FREE_BYTES) {
            String refusal = connection.memory().unpacks(STEP_BYTES);
            if (refusal != null) {
                throw RpcException.refusal(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "a compressed message is not unpacked beyond " + (counted + FREE_BYTES) + " bytes: " + refusal,
                        Executed.NO);
            }
            counted += STEP_BYTES;
        }
    }

    /** Called when the message has been decoded or dropped. */
    void gone() {
        connection.memory().unpacked(counted);
        counted = 0;
    }
}
