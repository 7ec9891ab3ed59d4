package tern.rpc.diagnosis.rule;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.peer.SilentPeers;
import tern.rpc.diagnosis.stack.TaskWaits;

/**
 * Attributes the wait for a task or future to the peer that the task most likely waits for. This rule is for tasks that
 * neither ledgers nor samples show: tasks of executors that Tern does not measure, on virtual threads whose stacks
 * cannot be read. Only the measured operations of threads that serve no call show such tasks.
 */
final class AwaitedPeers extends Rule {

    /** An operation explains a wait only if it exceeds its usual time by at least {@value} of the wait. */
    private static final double MOSTLY = 0.4;

    /** An operation explains a wait only if it takes at least {@value} times its usual time. */
    private static final double MUCH_SLOWER = 3;

    private final OutsideWork outside;
    private final SilentPeers silent;

    AwaitedPeers(Rule other) {
        super(other);
        this.outside = new OutsideWork(evidence);
        this.silent = new SilentPeers(excess, operations);
    }

    void apply() {
        for (Part part : byCause.longestFirst()) {
            if (ResultRules.waitsForOthers(part) && mayBeForTask(part)) {
                passOn(part);
            }
        }
    }

    private boolean mayBeForTask(Part wait) {
        return wait.kind() == Kind.ELSEWHERE
                || (TaskWaits.isForTaskOrFuture(excess.samples.calledIn(wait))
                        && !wait.name().startsWith(Part.TASKS_OF));
    }

    private void passOn(Part wait) {
        OutsideWork.Operation slow = slowest(waitNanos(wait));
        Times one = new Times();
        if (slow != null) {
            one.add(Account.part(slow.now().kind(), slow.now().name()), 1);
            byCause.pour(wait, one, waiter(wait) + " waits for a task in " + slow.text());
            return;
        }
        Part known = onlySilent();
        if (known != null) {
            one.add(known, 1);
            byCause.pour(wait, one, waiter(wait) + " waits for a task");
        }
    }

    private static String waiter(Part wait) {
        return wait.kind() == Kind.ELSEWHERE ? "asynchronous work" : wait.name();
    }

    /**
     * Returns the longest operation outside of calls that exceeds its usual time by enough to explain a wait of the
     * given time; null if there is none.
     */
    private OutsideWork.@Nullable Operation slowest(double waitNanos) {
        return outside.all().stream()
                .filter(operation -> operation.usualNanos() >= 0
                        && operation.isSlower()
                        && operation.now().nanos() >= MUCH_SLOWER * operation.usualNanos()
                        && operation.now().nanos() - operation.usualNanos() >= MOSTLY * waitNanos)
                .max(Comparator.comparingDouble(operation -> operation.now().nanos()))
                .orElse(null);
    }

    /**
     * Returns the only peer, database or Redis server that does not answer; null if there is none, or if there are
     * several.
     */
    private @Nullable Part onlySilent() {
        List<Part> silentOnes = byCause.longestFirst().stream()
                .filter(part ->
                        (part.kind() == Kind.PEER_FAILS && part.name().endsWith(Part.SILENT)) || silent.isSilent(part))
                .toList();
        return silentOnes.size() == 1 ? silentOnes.get(0) : null;
    }

    /** Returns the mean time of the given wait, over the calls that waited. */
    private double waitNanos(Part wait) {
        double waited = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double ofCall = counted.times().of(wait);
            waited += ofCall;
            calls += ofCall > 0 ? 1 : 0;
        }
        return waited / Math.max(1, calls);
    }
}
