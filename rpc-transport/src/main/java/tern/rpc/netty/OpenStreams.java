package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;

/**
 * Limits the number of open streaming calls on a server, because a stream holds memory and can stay open for any length
 * of time. A tenant may open a stream only while the number of its open streams is smaller than the number of streams
 * that are still available. If k tenants open as many streams as they can, each gets 1/(k + 1) of all streams. The
 * remaining 1/(k + 1) of all streams stays available for other tenants. Thread-safe. Because of races, a few more
 * streams might be admitted.
 */
final class OpenStreams {

    /**
     * The server permits one open stream for each {@value} bytes of the maximum heap (docs/limits.md). An idle stream
     * occupies about a quarter of these bytes.
     */
    private static final int HEAP_OF_A_STREAM = 16 << 10;

    private static final int MIN_STREAMS = 4_096;

    private final int most;
    private final AtomicInteger open = new AtomicInteger();

    OpenStreams(int most) {
        this.most = most;
    }

    /** Creates a limit that is proportional to the heap. */
    static OpenStreams ofHeap() {
        long part = Runtime.getRuntime().maxMemory() / HEAP_OF_A_STREAM;
        return new OpenStreams((int) Math.max(MIN_STREAMS, Math.min(Integer.MAX_VALUE, part)));
    }

    /**
     * Returns the reason why the tenant may not open a stream, as text for error messages; null if the tenant may open
     * a stream. The caller must call {@link #opened} and {@link #closed} for each stream that it opens.
     */
    @Nullable
    String refusal(Share share) {
        int own = share.openStreams();
        int all = open.get();
        return own < most - all
                ? null
                : all + " of " + most + " streams of this server are open, " + own + " of them by the tenant "
                        + share.tenant() + "; a tenant must not have more streams than are free";
    }

    void opened(Share share) {
        open.incrementAndGet();
        share.streamOpens();
    }

    void closed(Share share) {
        open.decrementAndGet();
        share.streamCloses();
    }

    int open() {
        return open.get();
    }
}
