package tern.rpc.diagnosis.text;

import java.util.stream.Stream;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.pool.ApplicationCode;

/**
 * Creates the cause descriptions for waits for pools whose state Tern does not measure: executors that hide their
 * threads, data sources without a pool, and pools that the application or a client library creates itself.
 */
final class UnknownPoolText {

    /** The name of the wait for a connection of an HTTP client that Tern does not measure. */
    private static final Part HTTP = Account.part(Phase.HTTP_CONNECTION, "");

    private final ExcessTime excess;

    UnknownPoolText(ExcessTime excess) {
        this.excess = excess;
    }

    /** Returns the kind of the cause, such as {@code EXECUTOR TOO SMALL}. */
    String kind(Part part) {
        if (isMeasuredAs(Phase.EXECUTOR, part)) {
            return "EXECUTOR TOO SMALL";
        }
        return opensConnections(part) ? "CONNECTIONS OPEN SLOWLY" : "WAIT AT POOL";
    }

    /**
     * @param mostly the most frequent activity of the executor's tasks; empty if unknown or if the pool is not an
     *     executor
     */
    Change change(Part part, String mostly) {
        String name = "\"" + part.name() + "\"";
        double waited = excess.accountOfCallsWith(part).of(part);
        String wait = Times.millis(waited) + " ms";
        if (isMeasuredAs(Phase.EXECUTOR, part)) {
            return Change.of(
                    Where.CODE,
                    "use shorter tasks or more threads for " + name
                            + (part.name().equals(ExecutorNames.REACTOR) ? " (" + ExecutorNames.ELASTIC_SIZE + ")" : "")
                            + mostly + ": tasks of calls wait"
                            + (waited > 0 ? " " + wait : "")
                            + " for a thread, and the number of threads is unknown");
        }
        if (opensConnections(part)) {
            StackTraceElement taken = excess.samples.lineIn(Phase.JDBC_CONNECTION);
            return Change.of(
                    Where.CODE,
                    "use a connection pool for the data source " + name + ": taking a connection takes " + wait
                            + (taken == null ? "" : " in " + ApplicationCode.shown(taken))
                            + ", and it most likely opens one for each use; if it has a pool, Tern does not measure the"
                            + " pool");
        }
        String calls = excess.samples.shownLineOf(part);
        if (part.equals(HTTP)) {
            return Change.of(
                    Where.CODE,
                    "allow more connections in the application's own HTTP client (with Reactor Netty, maxConnections"
                            + " and pendingAcquireMaxCount of its ConnectionProvider), and read or close each response,"
                            + " also if code fails: calls get no connection from it, and Tern does not measure its pool");
        }
        return Change.of(
                Where.CODE,
                "give each object of the pool back in a finally block, also if code fails, and use it for less time;"
                        + " otherwise allow more objects in the pool: calls wait"
                        + " " + wait + (calls == null ? "" : " in " + calls)
                        + "; Tern does not measure this pool");
    }

    /**
     * Returns whether the data source most likely opens a connection for each use. If calls failed because all
     * connections were in use, the data source has a pool.
     */
    private boolean opensConnections(Part part) {
        return isMeasuredAs(Phase.JDBC_CONNECTION, part)
                && excess.accounts.stream()
                        .map(counted -> FailurePart.of(counted.call()))
                        .noneMatch(part::equals);
    }

    /**
     * Returns whether the ledgers of calls contain waits of the given phase with the same name as the given wait. Waits
     * that have not ended also count.
     */
    private boolean isMeasuredAs(Phase phase, Part part) {
        return excess.accounts.stream()
                .map(counted -> counted.call().ledger())
                .flatMap(ledger -> Stream.concat(ledger.named().stream(), ledger.unfinished().stream()))
                .anyMatch(entry -> entry.kind() == phase && entry.name().equals(part.name()));
    }
}
