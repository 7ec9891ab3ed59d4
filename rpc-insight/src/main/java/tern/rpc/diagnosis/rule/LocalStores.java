package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.machine.BusyProcesses.Busiest;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Finds the operation that makes a database or Redis server on this machine take the processors. The server is another
 * process, but it works for the calls of this process.
 */
final class LocalStores extends Rule {

    private static final double HALF = 0.5;

    /** The prefix of JDBC URLs. */
    private static final String DATABASE = "jdbc:";

    /** Matches the host in the address of a server that certainly runs on this machine. */
    private static final Pattern LOOPBACK =
            Pattern.compile("(?:^|[/@(,=])(?:localhost|127\\.[\\d.]+|\\[?::1]?|0:0:0:0:0:0:0:1)(?:[:/,);?]|$)");

    private final OperationCounts counts;

    LocalStores(Rule other, OperationCounts counts) {
        super(other);
        this.counts = counts;
    }

    /**
     * Attributes three kinds of time to the operation that makes a server on this machine keep the processors busy: the
     * waits for a processor, the slowdown of all operations of the server, and the smaller slowdown of other
     * operations.
     *
     * @return whether there is such an operation
     */
    boolean passOn() {
        Busiest busiest = evidence.machine().busiest();
        Part work = busiest == null ? null : busyWith(busiest);
        if (busiest == null || work == null) {
            return false;
        }
        Times one = new Times();
        one.add(work, 1);
        for (Part part : byCause.longestFirst()) {
            boolean isMerged = part.name().isEmpty() || OperationNames.storeOfAll(part) != null;
            if (part.kind() == work.kind() && isMerged) {
                byCause.move(part, work);
            } else if (part.kind() == Kind.RUN_QUEUE) {
                byCause.pour(part, one, TimesByCause.WAIT_FOR + "a processor: " + busiest.program() + " takes them");
            }
        }
        double most = byCause.of(work);
        for (Part part : byCause.longestFirst()) {
            boolean isLess = Operations.phase(part.kind()) != null && byCause.of(part) < most;
            if (isLess && !excess.isMostlyFailure(part)) {
                byCause.move(part, work);
            }
        }
        return true;
    }

    /**
     * Returns the operation that makes a server on this machine keep the processors busy; null if there is none. Either
     * calls do not usually run the operation or run it more often than usual. The operation then slows down the other
     * operations of the server. Or the operation is slower than usual and causes most of the delay of late calls.
     */
    private @Nullable Part busyWith(Busiest busiest) {
        Kind kind = busiest.operations();
        if (kind == null
                || !evidence.machine().isFullOfOthers()
                || busiest.processors() < HALF * evidence.machine().others()) {
            return null;
        }
        Times measured = excess.times.only(part ->
                part.kind() == kind && isOperation(part) && !isElsewhere(part) && !excess.isMostlyFailure(part));
        Part longest = measured.isEmpty() ? null : measured.longestFirst().get(0);
        if (longest == null) {
            return null;
        }
        boolean isAdditional = counts.areMore(longest) || counts.areUnusual(longest);
        boolean isWork = isAdditional
                ? measured.of(longest) >= HALF * measured.sum()
                : operations.isSlower(longest) && byCause.of(longest) >= HALF * byCause.sum();
        return isWork ? longest : null;
    }

    private static boolean isOperation(Part part) {
        return !part.name().isEmpty()
                && OperationNames.storeOfAll(part) == null
                && !OperationNames.isFailing(part.name())
                && !part.name().startsWith(StackReader.CALLED);
    }

    /** Returns whether the server of the operation is known to run on another machine. */
    private boolean isElsewhere(Part part) {
        String store = OperationNames.store(part.name());
        List<String> servers = evidence.answers().servers().entrySet().stream()
                .filter(server -> store.isEmpty() || server.getKey().equals(store))
                .map(Map.Entry::getValue)
                .filter(server -> server.startsWith(DATABASE) == (part.kind() == Kind.SQL))
                .toList();
        return !servers.isEmpty()
                && servers.stream().noneMatch(server -> LOOPBACK.matcher(server).find());
    }
}
