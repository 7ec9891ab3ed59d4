package tern.rpc.netty;

import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;

/** Counters and repeated warnings for all connections of one server transport. Thread-safe. */
final class ServerCounters {

    private static final Logger LOG = LoggerFactory.getLogger(ServerCounters.class);
    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    /** The maximum number of reasons for closing connections that are logged separately. */
    private static final int MAX_REASONS = 16;

    /** The maximum length of the text that identifies a reason for closing connections. */
    private static final int REASON_LENGTH = 40;

    private final LongAdder received = new LongAdder();
    private final LongAdder answered = new LongAdder();
    private final LongAdder stalled = new LongAdder();
    private final AtomicInteger ending = new AtomicInteger();
    private final Map<String, SeldomWarning> closings = new ConcurrentHashMap<>();

    /**
     * Logs why a connection is closed. Each reason is logged at most once in ten seconds, because peers can make the
     * server close any number of connections, and a log can be slow.
     *
     * @param reason identifies the reason. Texts that differ only in numbers count as the same reason
     */
    void closing(String reason, Supplier<String> line, @Nullable Throwable cause) {
        String key = key(reason);
        SeldomWarning known = closings.get(key);
        if (known == null) {
            // The reason can contain text from the peer, so the number of reasons is limited.
            known = closings.computeIfAbsent(
                    closings.size() < MAX_REASONS ? key : "",
                    unseen -> new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS));
        }
        known.warn(line, cause);
    }

    private static String key(String reason) {
        StringBuilder key = new StringBuilder(REASON_LENGTH);
        for (int i = 0; i < reason.length() && key.length() < REASON_LENGTH; i++) {
            char next = reason.charAt(i);
            if (next < '0' || next > '9') {
                key.append(next);
            }
        }
        return key.toString();
    }

    void received() {
        received.increment();
    }

    void answered() {
        answered.increment();
    }

    /**
     * Counts a stalled stream and logs a warning. A stream is stalled if it has made no progress for 10 s even though
     * its peer and the socket would have accepted bytes.
     */
    void stalled(String method, SocketAddress peer, long unsentBytes) {
        stalled.increment();
        LOG.warn(
                "A stream of {} to {} has sent nothing for 10 s although its peer and the socket accept bytes; {} bytes"
                        + " are queued. This is a defect of the server; please report it with a thread dump",
                method,
                peer,
                unsentBytes);
    }

    long receivedCalls() {
        return received.sum();
    }

    int callsInFlight() {
        return (int) Math.max(0, received.sum() - answered.sum());
    }

    long stalledStreams() {
        return stalled.sum();
    }

    int ending() {
        return ending.get();
    }

    /**
     * Called when all answers of a connection have been sent and the server waits for the peer to close the connection.
     */
    void outputEnded(Channel channel) {
        ending.incrementAndGet();
        channel.closeFuture().addListener(done -> ending.decrementAndGet());
    }
}
