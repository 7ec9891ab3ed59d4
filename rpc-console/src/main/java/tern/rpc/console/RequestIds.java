package tern.rpc.console;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/**
 * The ids of recent requests. If a browser or a proxy repeats a request, the known id prevents a second call.
 * Thread-safe.
 */
final class RequestIds {

    private static final int REMEMBERED_IDS = 10_000;

    // The hashes of the most recent request ids, in a ring buffer. Null until the first id; guarded by this.
    private long @Nullable [] seenIds;
    private int seen; // the number of stored hashes; guarded by this

    /** Returns whether the request id has been stored by an earlier call to this method. Stores a new id. */
    synchronized boolean isRepeated(String id) {
        long hash = hash(id);
        long[] ids = seenIds;
        if (ids == null) {
            ids = new long[REMEMBERED_IDS];
            seenIds = ids;
        }
        for (int i = 0; i < Math.min(seen, REMEMBERED_IDS); i++) {
            if (ids[i] == hash) {
                return true;
            }
        }
        ids[seen % REMEMBERED_IDS] = hash;
        seen = seen + 1 == 2 * REMEMBERED_IDS ? REMEMBERED_IDS : seen + 1;
        return false;
    }

    private static long hash(String id) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(id.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
