package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import tern.rpc.NanoClock;
import tern.rpc.Pace;
import tern.rpc.PeerText;
import tern.rpc.SeldomWarning;

/**
 * Logs server errors on client connections. The rate of the warnings is limited for the whole process, because a
 * hostile server can cause such an error on each new connection, and send many GOAWAY frames.
 */
public final class ServerFaults {

    private static final Logger LOG = LoggerFactory.getLogger(ServerFaults.class);

    private static final SeldomWarning CLOSING = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private static final SeldomWarning GOING_AWAY = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private static final LeavingServers LEAVING = new LeavingServers(LOG, NanoClock.SYSTEM);

    private ServerFaults() {}

    /**
     * Logs that a connection is being closed.
     *
     * @param server the server, for the message
     * @param how the reason, which can contain text from the server
     * @param cause the exception to log with its stack trace; null if the reason is not an exception
     */
    public static void closing(Object server, String how, @Nullable Throwable cause) {
        CLOSING.warn(() -> "Closing the connection to " + server + ": " + PeerText.name(how), cause);
    }

    /**
     * Logs that a server ends an HTTP/2 connection because of an error.
     *
     * @param text the reason that the server gives
     */
    public static void goesAway(Object server, long error, ByteBuf text) {
        GOING_AWAY.warn(() -> server + " goes away with HTTP/2 error " + error + ": "
                + PeerText.name(text.toString(StandardCharsets.ISO_8859_1)));
    }

    /** Logs that a server accepts no more calls on a connection. */
    static void leaves(Object connection) {
        LEAVING.log(connection);
    }

    /**
     * Logs that servers accept no more calls on a connection. A server can do this after the first answer on each
     * connection, and each call then opens a new connection. Lines beyond the limit are logged at level DEBUG.
     * Thread-safe.
     */
    static final class LeavingServers {

        private final Logger log;
        private final Pace pace;

        LeavingServers(Logger log, NanoClock clock) {
            this.log = log;
            this.pace = new Pace(SeldomWarning.CALLS_PER_SECOND, Duration.ofSeconds(1), clock);
        }

        void log(Object connection) {
            log.atLevel(pace.take() ? Level.INFO : Level.DEBUG)
                    .log("{} is going away; no new calls on this connection", connection);
        }
    }
}
