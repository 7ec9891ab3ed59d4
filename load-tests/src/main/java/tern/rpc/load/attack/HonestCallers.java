package tern.rpc.load.attack;

import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.attack.RawHttp2.Frame;

/**
 * The legitimate callers, with the address 127.0.0.9. Each caller has one connection and makes calls at a constant
 * rate. One call in ten is a stream. If the connection is lost, the current call fails and the next call reconnects.
 * The latency of a call is measured from its scheduled start.
 */
final class HonestCallers implements AutoCloseable {

    private static final int CALLERS = 8;
    private static final long EACH_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    private static final int PATIENCE_MILLIS = 3_000;
    private static final int ADDRESS = 9;

    /** One call in {@value} is a stream of several messages. */
    private static final int STREAM_PART = 10;

    /**
     * The results of the legitimate calls in one period.
     *
     * @param calls the total number of calls
     * @param failed the number of calls without a correct answer
     * @param p99Millis the 99th percentile of the successful calls, in milliseconds
     * @param reasons the number of failures by reason
     */
    record Outcome(int calls, int failed, double p99Millis, Map<String, Integer> reasons) {

        double share() {
            return calls == 0 ? 0 : 100.0 * (calls - failed) / calls;
        }
    }

    private final int port;
    private final boolean connectAnew;
    private final AtomicBoolean closed = new AtomicBoolean();
    private List<Long> nanos = new ArrayList<>(); // guarded by this
    private Map<String, Integer> reasons = new TreeMap<>(); // guarded by this

    /**
     * @param connectAnew whether each call opens a new connection
     */
    HonestCallers(int port, boolean connectAnew) {
        this.port = port;
        this.connectAnew = connectAnew;
        for (int i = 0; i < CALLERS; i++) {
            Thread caller = new Thread(this::keepCalling, "honest");
            caller.setDaemon(true);
            caller.start();
        }
    }

    private void keepCalling() {
        @Nullable RawHttp2 connection = null;
        long due = System.nanoTime();
        for (int i = 0; !closed.get(); i++) {
            try {
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                if (connection == null) {
                    connection = new RawHttp2(ADDRESS, port, PATIENCE_MILLIS).open(-1);
                }
                call(connection, i % STREAM_PART == 0 ? "pages" : "quick");
                ended(System.nanoTime() - due, null);
                if (connectAnew) {
                    connection.close();
                    connection = null;
                }
            } catch (IOException e) {
                ended(0, e.getMessage());
                close(connection);
                connection = null;
            } catch (InterruptedException e) {
                return;
            }
            due = Math.max(due + EACH_NANOS, System.nanoTime());
        }
        close(connection);
    }

    private static void call(RawHttp2 connection, String method) throws IOException {
        int stream = connection.call(method, "good");
        boolean answered = false;
        CharSequence status = "none";
        CharSequence message = "";
        while (true) {
            Frame frame = connection.read();
            if (frame.type() == RawHttp2.HEADERS) {
                Http2Headers fields = connection.fields(frame);
                status = fields.get("grpc-status", status);
                message = fields.get("grpc-message", message);
            }
            if (frame.type() == RawHttp2.GO_AWAY) {
                throw new IOException("GOAWAY");
            }
            if (frame.type() == RawHttp2.DATA && frame.payload().length > 0 && method.equals("pages")) {
                connection.credit(0, frame.payload().length);
                connection.credit(frame.stream(), frame.payload().length);
            }
            if (frame.stream() != stream) {
                continue;
            }
            answered |= frame.type() == RawHttp2.DATA && frame.payload().length > 0;
            if (frame.type() == RawHttp2.RESET) {
                throw new IOException("reset");
            }
            if (frame.has(RawHttp2.END_STREAM)) {
                if (!answered || !"0".contentEquals(status)) {
                    throw new IOException("grpc-status " + status + ", " + message);
                }
                return;
            }
        }
    }

    private static void close(@Nullable RawHttp2 connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (IOException e) {
                // The connection is already closed.
            }
        }
    }

    private synchronized void ended(long took, @Nullable String failure) {
        if (failure == null) {
            nanos.add(took);
        } else {
            reasons.merge(failure, 1, Integer::sum);
        }
    }

    /** Returns the numbers and latencies of the calls since the previous invocation of this method, and resets them. */
    synchronized Outcome look() {
        long[] sorted = nanos.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        int failed = reasons.values().stream().mapToInt(Integer::intValue).sum();
        Outcome outcome = new Outcome(
                sorted.length + failed,
                failed,
                sorted.length == 0 ? Double.NaN : sorted[(int) (sorted.length * 0.99)] / 1e6,
                reasons);
        nanos = new ArrayList<>();
        reasons = new TreeMap<>();
        return outcome;
    }

    @Override
    public void close() {
        closed.set(true);
    }
}
