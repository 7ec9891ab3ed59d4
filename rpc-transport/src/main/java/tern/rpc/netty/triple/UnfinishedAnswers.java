package tern.rpc.netty.triple;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/**
 * Limits the memory of the process for unfinished answers: answers that have arrived only in part, and complete
 * messages whose status has not arrived. The unfinished answers from one server may occupy at most half of the memory
 * that other servers leave, so a single server cannot make calls to other servers fail. If the process has only one
 * unfinished answer, this answer is always read. Thread-safe. Concurrent calls can slightly exceed the limits.
 */
final class UnfinishedAnswers {

    /** The maximum size of an answer that is not counted. */
    static final int FREE_BYTES = 64 << 10;

    private static final int STEP_BITS = 16;
    private static final int HEAP_SHARE = 2;

    /** The memory limits for the unfinished answers of all clients in this process. */
    static final UnfinishedAnswers OF_PROCESS =
            new UnfinishedAnswers(Runtime.getRuntime().maxMemory() / HEAP_SHARE);

    private final int maxSteps;
    private final AtomicInteger used = new AtomicInteger();

    /**
     * The memory that each server's unfinished answers occupy, in units of 64 KiB ({@link #STEP_BITS}). Servers without
     * unfinished answers have no entry.
     */
    private final Map<Endpoint, Integer> ofServers = new ConcurrentHashMap<>();

    /** @param maxBytes the memory for all unfinished answers */
    UnfinishedAnswers(long maxBytes) {
        this.maxSteps = (int) Math.min(Integer.MAX_VALUE, maxBytes >> STEP_BITS);
    }

    /** Returns the number of bytes that unfinished answers occupy. */
    long usedBytes() {
        return (long) used.get() << STEP_BITS;
    }

    private boolean take(Endpoint server, int steps, int ofAnswer) {
        int all = used.get();
        boolean isOnly = all == ofAnswer;
        if (!isOnly && steps + ofServers.getOrDefault(server, 0) > maxSteps - all) {
            return false;
        }
        used.addAndGet(steps);
        ofServers.merge(server, steps, Integer::sum);
        return true;
    }

    private void giveBack(Endpoint server, int steps) {
        used.addAndGet(-steps);
        ofServers.computeIfPresent(server, (key, sum) -> sum == steps ? null : sum - steps);
    }

    /** Counts the memory of one answer. Only one thread at a time uses an instance. */
    static final class Account {

        private final UnfinishedAnswers all;
        private final Endpoint server;
        private int steps;

        Account(UnfinishedAnswers all, Endpoint server) {
            this.all = all;
            this.server = server;
        }

        /**
         * Sets the number of bytes that the answer occupies.
         *
         * @return the reason for a refusal, as text for error messages; null if there is enough memory
         */
        @Nullable
        String holds(int bytes) {
            int wanted = bytes <= FREE_BYTES ? 0 : ((bytes - 1) >> STEP_BITS) + 1;
            if (wanted > steps && !all.take(server, wanted - steps, steps)) {
                return "unfinished answers of this server hold " + mebibytes(all.ofServers.getOrDefault(server, 0))
                        + " of the " + mebibytes(all.used.get()) + " MiB of all unfinished answers; all may hold "
                        + mebibytes(all.maxSteps)
                        + " MiB (half of the heap), and the answers of one server may hold as much as is free";
            }
            if (wanted < steps) {
                all.giveBack(server, steps - wanted);
            }
            steps = wanted;
            return null;
        }

        private static int mebibytes(int steps) {
            return steps >> (20 - STEP_BITS);
        }

        /** Called when the answer has been delivered or dropped. */
        void ended() {
            holds(0);
        }
    }
}
