package tern.rpc.diagnosis.excess;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.StoreNames;

/**
 * Finds writing statements of several tables that hang although the database answers reading statements. The hanging
 * statements soon occupy all connections, so late calls may run hardly any reading statement. Usual calls then show how
 * many of the hanging statements would read if the database answered nothing.
 */
public final class HangingWrites {

    /** At least {@value} different writing statements must hang. */
    private static final int MIN_STATEMENTS = 3;

    /** A statement hangs if it takes at least {@value} ns longer than usual, and many times its usual time. */
    private static final double HANGING_NANOS = 1e9;

    private static final double HANGING_FACTOR = 20;

    /** A reading statement counts as quick if it slows down by at most {@value} of the hanging statements' slowdown. */
    private static final double LITTLE = 0.1;

    /**
     * If late calls run no reading statement, it must be at most this likely that the database answers nothing and only
     * writing statements hang by chance.
     */
    private static final double UNLIKELY = 0.05;

    private static final String COMMIT = "commit";

    private final ExcessTime excess;
    private final Operations operations;

    public HangingWrites(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The executions of a statement in late calls, including those that have not ended. */
    private static final class Executions {
        private int count;
        private double nanos;

        private double each() {
            return nanos / Math.max(1, count);
        }
    }

    /** Returns whether writing statements of any data source hang although the database answers reading statements. */
    boolean isAny(Set<String> statements) {
        return statements.stream()
                .map(OperationNames::store)
                .distinct()
                .anyMatch(store -> !of(store).isEmpty());
    }

    /**
     * Returns the writing statements of the data source that hang although the database answers reading statements; an
     * empty set if there are none.
     *
     * @param store the data source; empty if there is only one
     */
    public Set<String> of(String store) {
        Map<String, Executions> all = executions(store);
        Set<String> writes = all.keySet().stream()
                .filter(name -> Statements.isWrite(name) && operations.usualNamed(Phase.SQL, name) > 0)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> hanging = writes.stream()
                .filter(name -> hangs(name, Objects.requireNonNull(all.get(name))))
                .collect(Collectors.toCollection(TreeSet::new));
        long tables = hanging.stream().map(HangingWrites::tableOf).distinct().count();
        boolean areMost = hanging.size() >= MIN_STATEMENTS && 2 * hanging.size() > writes.size();
        return areMost && tables > 1 && !isLogSlow(hanging, writes) && areReadsQuick(store, all, hanging)
                ? hanging
                : Set.of();
    }

    /**
     * Returns whether the commit hangs, but not all writing statements. The other hanging statements then probably
     * commit by themselves.
     */
    private static boolean isLogSlow(Set<String> hanging, Set<String> writes) {
        return !hanging.equals(writes)
                && hanging.stream().anyMatch(name -> StoreNames.without(name).equals(COMMIT));
    }

    private Map<String, Executions> executions(String store) {
        Map<String, Executions> all = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            CallLedger ledger = counted.call().ledger();
            for (Part part : counted.times().longestFirst()) {
                boolean isNamed = part.kind() == Kind.SQL
                        && !part.name().isEmpty()
                        && !part.name().equals(NamedTimes.OTHERS)
                        && !part.name().startsWith(StackReader.CALLED)
                        && OperationNames.store(part.name()).equals(store);
                double nanos = counted.times().of(part);
                // A statement that ends early with an error does not show how long it would have taken.
                boolean isShortFailure = OperationNames.isFailing(part.name()) && nanos < HANGING_NANOS;
                if (isNamed && !isShortFailure && !NamedTimes.isRollback(part.name())) {
                    Executions one =
                            all.computeIfAbsent(OperationNames.withoutStatus(part.name()), name -> new Executions());
                    one.count += Math.max(1, count(ledger, part.name()));
                    one.nanos += nanos;
                }
            }
        }
        return all;
    }

    private static int count(CallLedger ledger, String statement) {
        return ledger.named().stream()
                .filter(entry -> entry.kind() == Phase.SQL && entry.name().equals(statement))
                .mapToInt(NamedTimes.Entry::count)
                .sum();
    }

    private boolean hangs(String statement, Executions executions) {
        double usually = operations.usualNamed(Phase.SQL, statement);
        double each = executions.each();
        return each >= usually + HANGING_NANOS && each >= HANGING_FACTOR * usually;
    }

    private static String tableOf(String statement) {
        String table = Statements.table(statement);
        return table == null ? statement : table;
    }

    /**
     * Returns whether the database answers reading statements. If late calls run none, checks that some of the hanging
     * statements would be reading statements otherwise.
     */
    private boolean areReadsQuick(String store, Map<String, Executions> all, Set<String> hanging) {
        double smallest = hanging.stream()
                .mapToDouble(name -> longer(name, Objects.requireNonNull(all.get(name))))
                .min()
                .orElse(0);
        Set<String> reads =
                all.keySet().stream().filter(name -> !Statements.isWrite(name)).collect(Collectors.toSet());
        boolean areQuick = reads.stream()
                .allMatch(name -> longer(name, Objects.requireNonNull(all.get(name))) <= LITTLE * smallest);
        if (!areQuick) {
            return false;
        }
        int executed = hanging.stream()
                .mapToInt(name -> Objects.requireNonNull(all.get(name)).count)
                .sum();
        boolean isAnyKnown = reads.stream().anyMatch(name -> operations.usualNamed(Phase.SQL, name) > 0);
        return isAnyKnown || Math.pow(1 - shareOfReaders(store), executed) <= UNLIKELY;
    }

    private double longer(String statement, Executions executions) {
        return executions.each() - Math.max(0, operations.usualNamed(Phase.SQL, statement));
    }

    /**
     * Returns the share of calls that only read, among the calls with statements of the data source that met the
     * target. These calls would hang in a reading statement if the database answered nothing.
     */
    private double shareOfReaders(String store) {
        int readers = 0;
        int calls = 0;
        for (EndedCall call : Stream.concat(excess.goodBeforeMiss().stream(), excess.good().stream())
                .toList()) {
            Set<String> statements = call.ledger().named().stream()
                    .filter(entry -> entry.kind() == Phase.SQL
                            && OperationNames.store(entry.name()).equals(store))
                    .map(NamedTimes.Entry::name)
                    .filter(name -> !StoreNames.without(name).equals(COMMIT))
                    .collect(Collectors.toSet());
            calls += statements.isEmpty() ? 0 : 1;
            readers += !statements.isEmpty() && statements.stream().noneMatch(Statements::isWrite) ? 1 : 0;
        }
        return calls == 0 ? 0 : (double) readers / calls;
    }
}
