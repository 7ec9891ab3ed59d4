package tern.rpc.netty.triple;

import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;

/**
 * Counts the bytes that come out of one compressed request to the memory for requests, before they are unpacked. The first
 * 64 KiB do not count. One thread at a time.
 */
final class UnpackedRequest {

    private static final int STEP_BYTES = 64 << 10;

    private final ServerConnection connection;
    private int counted;

    UnpackedRequest(ServerConnection connection) {
        this.connection = connection;
    }

    /**
     * The message is about to have as many bytes.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if there is no room for them
     */
    void reaches(int bytes) {
        while (bytes > counted + STEP_BYTES) {
            String refusal = connection.unpacks(STEP_BYTES);
            if (refusal != null) {
                throw RpcException.refusal(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "a compressed message is not unpacked beyond " + (counted + STEP_BYTES) + " bytes: " + refusal,
                        Executed.NO);
            }
            counted += STEP_BYTES;
        }
    }

    /** The message was read, or will not be. */
    void gone() {
        connection.unpacked(counted);
        counted = 0;
    }
}
