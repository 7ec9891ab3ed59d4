package tern.rpc.diagnosis.text;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;

/**
 * Finds another client of this process to which a Redis server answers quickly. The commands of the slow client then
 * wait in this process or on its connection, and the server is not slow.
 */
final class QuickClients {

    /** The possible reasons why a healthy server does not get commands in time. */
    static final String UNSENT = "commands that are written but not sent (Lettuce: setAutoFlushCommands(false) without"
            + " a later setAutoFlushCommands(true) and flushCommands() in a finally block)";

    /** The commands of a client count as quick if they take at most {@value} times their usual time. */
    private static final double QUICK = 1.5;

    private static final double QUICK_NANOS = 1e6;
    private static final int MIN_COMMANDS = 3;

    private final ExcessTime excess;
    private final Operations operations;

    QuickClients(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The commands of one client: their number, their time, and their usual time. */
    private static final class Commands {
        private int count;
        private double nanos;
        private double usually;
    }

    /**
     * Returns the description of a client whose commands are all slow although the same server answers another client
     * of this process quickly; null if there is no such client.
     *
     * @param slow the commands of the slow client
     */
    @Nullable
    CauseDescription describe(String store, Set<String> slow, List<String> facts) {
        Map<String, Commands> clients = new TreeMap<>();
        Stream.concat(excess.goodDuringMiss().stream(), excess.accounts.stream().map(ExcessTime.Counted::call))
                .flatMap(call -> call.ledger().named().stream())
                .filter(entry -> isOfOtherClient(entry, store, slow))
                .forEach(entry -> add(clients, entry));
        for (Map.Entry<String, Commands> client : clients.entrySet()) {
            Commands commands = client.getValue();
            if (commands.count >= MIN_COMMANDS
                    && commands.nanos <= QUICK * commands.usually + QUICK_NANOS * commands.count) {
                facts.add(String.format(
                        Locale.ROOT,
                        "quick    %s gets answers of the same server after %.1f ms",
                        client.getKey(),
                        commands.nanos / commands.count / 1e6));
                return new CauseDescription(
                        "SLOW REDIS",
                        "connection of " + store,
                        Change.of(
                                Where.CODE,
                                "find out why the commands of " + store + " do not arrive in time: " + UNSENT
                                        + ", a blocking command or a large reply on the shared connection, or code on"
                                        + " the client's event loop; the Redis server is not slow, because it answers "
                                        + client.getKey() + " of this process quickly"),
                        facts);
            }
        }
        return null;
    }

    private boolean isOfOtherClient(NamedTimes.Entry entry, String store, Set<String> slow) {
        String other = OperationNames.store(entry.name());
        return entry.kind() == Phase.REDIS
                && !other.isEmpty()
                && !other.equals(store)
                && slow.stream().anyMatch(name -> operations.areOfSameServer(entry.name(), name));
    }

    private void add(Map<String, Commands> clients, NamedTimes.Entry entry) {
        double usually = operations.usualNamed(Phase.REDIS, entry.name());
        if (usually > 0) {
            Commands commands = clients.computeIfAbsent(OperationNames.store(entry.name()), name -> new Commands());
            commands.count += entry.count();
            commands.nanos += entry.nanos();
            commands.usually += usually * entry.count();
        }
    }
}
