package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;
import tern.rpc.serialization.LargeWork;

/**
 * Counts the decompressed bytes of one request in the server's memory budget for requests. Bytes are counted before
 * they are decompressed. The first 64 KiB are not counted. Requests whose decompressed size is much larger than their
 * compressed size are processed a few at a time ({@link LargeWork#uncheckedBytes}). Only one thread at a time uses an
 * instance.
 */
final class UnpackedRequest {

    /**
     * The maximum size of a request that is not counted. Decoding such a request takes about as much time as all other
     * work for its call.
     */
    static final int FREE_BYTES = 64 << 10;

    private static final int STEP_BYTES = 64 << 10;

    private final ServerConnection connection;
    private final int unchecked;
    private int counted;
    // the permit to decompress or decode a large message; null while this request has no permit
    private @Nullable LargeWork turn;

    /** @param compressedBytes the size of the compressed request */
    UnpackedRequest(ServerConnection connection, int compressedBytes) {
        this.connection = connection;
        this.unchecked = LargeWork.uncheckedBytes(compressedBytes);
    }

    /**
     * Called before the decompressed message grows to the given size. Counts the additional bytes. Waits for a permit
     * if the message becomes much larger than its compressed bytes.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if the memory budget does not permit the message, or if too many other
     *     requests wait for a permit
     */
    void reaches(int bytes) {
        takeTurn(bytes);
        while (bytes > counted + FREE_BYTES) {
            String refusal = connection.memory().unpacks(STEP_BYTES);
            if (refusal != null) {
                throw RpcException.refusal(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "decompression stopped at " + (counted + FREE_BYTES) + " bytes of the message: " + refusal,
                        Executed.NO);
            }
            counted += STEP_BYTES;
        }
    }

    /**
     * Called when the message has been decompressed. Releases the permit, so that another request can be decompressed
     * before this request is decoded.
     */
    void unpacked() {
        endTurn();
    }

    /**
     * Called before a decompressed message is decoded. Waits for a permit, as {@link #reaches} does.
     *
     * @param bytes the decompressed size
     */
    void startDecoding(int bytes) {
        takeTurn(bytes);
    }

    private void takeTurn(int bytes) {
        if (bytes > unchecked && turn == null) {
            turn = LargeWork.startDecodingUnpacked(unchecked, connection.network());
        }
    }

    private void endTurn() {
        LargeWork.end(turn);
        turn = null;
    }

    /** Called when the message has been decoded or dropped. */
    void gone() {
        endTurn();
        connection.memory().unpacked(counted);
        counted = 0;
    }
}
