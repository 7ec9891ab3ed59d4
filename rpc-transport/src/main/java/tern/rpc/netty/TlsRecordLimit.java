package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import tern.rpc.NanoClock;

/**
 * Limits the TLS records without application data that a peer sends after the handshake, such as changes of its keys
 * and empty records. A record without application data contains only a few bytes, but makes the receiver compute keys
 * and queue an answer. No other limit covers this work, and other connections have to wait for it. A well-behaved peer
 * sends many gigabytes of data between two such records. Confined to the event loop.
 */
final class TlsRecordLimit {

    /** The maximum number of records without application data within 30 seconds (docs/limits.md). */
    static final int MAX_RECORDS = 1_000;

    /** The maximum number of records without application data while the peer does not read (docs/limits.md). */
    static final int MAX_UNREAD = 10_000;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Channel channel;
    private final NanoClock clock;
    private final Consumer<String> closing;
    private long windowNanos;
    private int handshakes; // the number of further handshakes that are accepted
    private int records; // the number of records without application data in the current window of 30 seconds
    private int unread; // the number of records without application data since the channel was last writable

    /**
     * @param handshakes the number of further TLS 1.2 handshakes that are accepted
     * @param closing called with the reason before the connection is closed
     */
    TlsRecordLimit(Channel channel, NanoClock clock, int handshakes, Consumer<String> closing) {
        this.channel = channel;
        this.clock = clock;
        this.handshakes = handshakes;
        this.closing = closing;
        this.windowNanos = clock.nanoTime();
    }

    /**
     * Counts a record without application data.
     *
     * @throws SSLException if there are too many; the TLS handler then closes the connection
     */
    void count() throws SSLException {
        long now = clock.nanoTime();
        if (now - windowNanos >= WINDOW_NANOS) {
            windowNanos = now;
            records = 0;
        }
        records++;
        unread = channel.isWritable() ? 0 : unread + 1;
        if (records > MAX_RECORDS) {
            throw refused(
                    records + " TLS records without data came within 30 s; at most " + MAX_RECORDS + " are accepted");
        }
        if (unread > MAX_UNREAD) {
            throw refused(unread + " TLS records without data came while the peer did not read; at most " + MAX_UNREAD
                    + " are accepted");
        }
    }

    /**
     * Counts an additional TLS 1.2 handshake, and refuses it if there have been too many. Without this refusal, a peer
     * could begin one expensive handshake after another on the same connection. RFC 9113 (9.2.1) forbids renegotiation
     * for HTTP/2.
     */
    void renegotiated() throws SSLException {
        if (--handshakes < 0) {
            throw refused("the peer began another TLS handshake on the same connection, which is not accepted");
        }
    }

    private SSLException refused(String how) {
        closing.accept(how);
        return new SSLException(how);
    }
}
