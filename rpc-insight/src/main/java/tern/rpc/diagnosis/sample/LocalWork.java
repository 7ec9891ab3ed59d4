package tern.rpc.diagnosis.sample;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.Libraries;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes an operation of an HTTP, Redis or RPC client during which this process itself works or pauses. The ledger
 * records this time as part of the operation, although the peer does not cause it. Two cases are known: an HTTP, Redis
 * or RPC client pauses before it retries a request, and a client filter of the application works or waits during a
 * remote call.
 */
final class LocalWork {

    /**
     * A thread that sleeps during an operation of one of the listed phases does not wait for an answer. Statements are
     * excluded, because some databases sleep while they wait for a lock.
     */
    private static final Set<Phase> PAUSED = EnumSet.of(Phase.HTTP, Phase.RPC, Phase.REDIS);

    /**
     * The activities of a client filter that count as work or waits of this process. Waits for results do not count: a
     * filter that waits for a result usually waits for the answer to its remote call.
     */
    private static final Set<Kind> OF_FILTERS =
            EnumSet.of(Kind.COMPUTING, Kind.SLEEP, Kind.LOCK, Kind.FILE, Kind.SOCKET, Kind.HTTP, Kind.SQL, Kind.REDIS);

    private static final String CLIENT = "tern.rpc.client.";

    private LocalWork() {}

    /**
     * Returns what the thread is doing or waiting for within this process; null if the thread is waiting for the peer.
     *
     * @param read what the stack of the thread shows
     * @param phase the phase of the call
     */
    static @Nullable Part of(Part read, Phase phase, ThreadSnapshot thread) {
        if (PAUSED.contains(phase) && Libraries.pauses(thread)) {
            return new Part(Kind.SLEEP, StackReader.place(thread));
        }
        return phase == Phase.RPC && OF_FILTERS.contains(read.kind()) && isInFilter(thread) ? read : null;
    }

    /** Returns whether Tern's client calls the application's innermost code. */
    private static boolean isInFilter(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean isInside = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.startsWith(CLIENT)) {
                return isInside;
            }
            isInside |= application.test(type);
        }
        return false;
    }
}
