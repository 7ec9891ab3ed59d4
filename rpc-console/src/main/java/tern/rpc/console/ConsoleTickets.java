package tern.rpc.console;

import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tickets for the console's calls. The console's filter checks the headers of a request and then creates a ticket.
 * Each ticket permits one call, so a request that bypasses the filter cannot make a call. Thread-safe.
 */
final class ConsoleTickets {

    /** The maximum number of concurrent calls from the console. */
    static final int MAX_CALLS = 4;

    /**
     * The maximum number of concurrent requests to stop a call. A low number is enough, because these requests end
     * immediately.
     */
    private static final int MAX_STOPS = 16;

    private final Map<String, Ticket> tickets = new HashMap<>(); // the tickets by id; guarded by this

    /** A ticket for one request. */
    static final class Ticket {
        private final boolean stops;
        private final byte[] body;
        private final @Nullable SocketAddress caller;
        // True after the ticket's only call has begun. The lock of {@link ConsoleTickets} guards this field, {@code
        // running} and {@code dropped}.
        private boolean taken;
        private boolean running;
        private boolean dropped;

        private Ticket(boolean stops, byte[] body, @Nullable SocketAddress caller) {
            this.stops = stops;
            this.body = body;
            this.caller = caller;
        }

        byte[] body() {
            return body;
        }

        @Nullable
        SocketAddress caller() {
            return caller;
        }
    }

    /**
     * Creates a ticket for a request whose headers have been checked. The caller must {@linkplain #drop drop} the
     * ticket.
     *
     * @param stops whether the request stops a call instead of making one
     * @return the id of the ticket
     * @throws WrongRequestException 409 if too many calls are running
     */
    synchronized String create(boolean stops, byte[] body, @Nullable SocketAddress caller) {
        long others = tickets.values().stream()
                .filter(ticket -> ticket.stops == stops)
                .count();
        if (!stops && others >= MAX_CALLS) {
            throw new WrongRequestException(
                    409, others + " of " + MAX_CALLS + " calls of the console are running; stop one, or wait");
        }
        if (stops && others >= MAX_STOPS) {
            throw new WrongRequestException(409, others + " requests that stop calls are running; wait for one to end");
        }
        String id = RandomHex.of(16);
        tickets.put(id, new Ticket(stops, body, caller));
        return id;
    }

    /**
     * Removes a ticket. If the ticket's call is still running, the ticket is removed only when the call ends, and
     * counts towards {@link #MAX_CALLS} until then.
     */
    synchronized void drop(String id) {
        Ticket ticket = tickets.get(id);
        if (ticket != null && ticket.running) {
            ticket.dropped = true;
        } else {
            tickets.remove(id);
        }
    }

    /**
     * Begins the call that a ticket permits. The caller must call {@link #ended} at the end of the call.
     *
     * @throws WrongRequestException 403 if the ticket is unknown, has been used, or is for another kind of request
     */
    synchronized Ticket use(@Nullable String id, boolean stops) {
        Ticket ticket = id == null ? null : tickets.get(id);
        if (ticket == null || ticket.taken || ticket.stops != stops) {
            throw new WrongRequestException(
                    403, "the request came on a path on which its headers are not checked; use the console's own path");
        }
        ticket.taken = true;
        ticket.running = true;
        return ticket;
    }

    /** Records that the call of a ticket has ended. */
    synchronized void ended(@Nullable String id, Ticket ticket) {
        ticket.running = false;
        if (ticket.dropped) {
            tickets.remove(id);
        }
    }
}
