package tern.rpc.diagnosis.text;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.DelayedAcks;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.pool.LargeReplies;

/** Describes causes that concern all operations on a database or Redis server. */
final class ServerText {

    /**
     * A command counts as taking about its usual time if it takes at most {@value} times its usual time, plus {@link
     * #QUICK_NANOS}.
     */
    private static final double QUICK = 1.5;

    private static final double QUICK_NANOS = 1e6;

    /** The text says that some commands take their usual time if at least one in {@value} commands does. */
    private static final int SOME = 5;

    private static final int MIN_COMMANDS = 8;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;

    ServerText(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
    }

    /**
     * Returns the name of the given operation. If the operation has no name, returns the names of the operations of the
     * same kind that take the most time; {@code otherwise} if these names are unknown.
     */
    String name(Part part, String otherwise) {
        if (!part.name().isEmpty() && !part.name().equals(NamedTimes.OTHERS)) {
            return part.name();
        }
        String names = operations.names(part.kind(), !counts.areMany(part.kind(), ""));
        return names.isEmpty() ? otherwise : names;
    }

    /**
     * Returns the recommended change if all operations on a server became slower.
     *
     * @param store the server's data source or Redis server; empty if there is only one
     */
    Change change(String server, Part part, String store, String look) {
        String network = "check the network to the " + server;
        String itself = "the " + server + ": " + look;
        String large = part.kind() == Kind.REDIS ? largeReply(store) : null;
        boolean isNewlyLarge = large != null && LargeData.isNewlyLarge(large, evidence);
        if (part.kind() == Kind.REDIS && !isLossy() && (isNewlyLarge || stopsForMoments(store))) {
            String who = large == null
                    ? "another client runs it, because some commands of calls are as quick as usual"
                    : "it may be " + large + " of these calls, because the other commands of a shared connection wait"
                            + " until this reply has been read, or a command of another client";
            return Change.of(
                    Where.PEER,
                    "find the command or script that blocks the " + server + " for short periods (SLOWLOG GET, INFO"
                            + " commandstats): " + who + "; otherwise check its load and its memory"
                            + DelayedAcks.hint(part, excess, operations));
        }
        return Change.of(
                Where.PEER,
                (isLossy()
                                ? network
                                : operations.isSameForAll(part.kind(), store)
                                        ? network + ", or " + itself
                                                + "; each operation has become slower by about the same time"
                                        : "check " + itself)
                        + DelayedAcks.hint(part, excess, operations));
    }

    /**
     * Among the commands of late calls that have a large reply, returns the command that takes the most time; null if
     * there is none.
     */
    private @Nullable String largeReply(String store) {
        return operations.each(Phase.REDIS).entrySet().stream()
                .filter(command -> !LargeReplies.sizeIn(command.getKey()).isEmpty())
                .filter(command -> store.isEmpty()
                        || OperationNames.store(command.getKey()).equals(store))
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns whether some commands still take about their usual time, for example because they run between two
     * blocking commands of another client. If the network were slow, every command would take longer.
     */
    private boolean stopsForMoments(String store) {
        int all = 0;
        int quick = 0;
        for (EndedCall call : excess.goodDuringMiss()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                boolean isOfStore =
                        store.isEmpty() || OperationNames.store(entry.name()).equals(store);
                double usually = operations.usualNamed(Phase.REDIS, entry.name());
                if (entry.kind() == Phase.REDIS && isOfStore && usually > 0) {
                    all++;
                    quick += entry.nanos() <= entry.count() * (QUICK * usually + QUICK_NANOS) ? 1 : 0;
                }
            }
        }
        return all >= MIN_COMMANDS && SOME * quick >= all;
    }

    private boolean isLossy() {
        return evidence.machine().second() != null
                && evidence.machine().second().retransmitShare() > 0.01;
    }
}
