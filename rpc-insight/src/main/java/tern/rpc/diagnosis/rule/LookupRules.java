package tern.rpc.diagnosis.rule;

import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.stack.NameLookups;

/** Attributes calls' waits for a peer to host name lookups on other threads. */
public final class LookupRules {

    /**
     * If at least {@value} operations of the kind that calls wait for took about their usual time, lookups do not
     * explain the wait.
     */
    private static final int MIN_QUICK = 3;

    /**
     * Lookups can be the cause of the wait for a pool only if at least {@value} samples show a call looking up a name
     * while it opens a pooled connection.
     */
    private static final int MIN_LOOKS = 3;

    /** An operation counts as usual if its time is at most {@value} times its usual time. */
    private static final double QUICK_FACTOR = 2;

    private LookupRules() {}

    /**
     * Attributes waits for a peer to lookups of the peer's name. The stack of a lookup does not show for which call the
     * lookup runs. Therefore, lookups do not explain a wait while other operations of the same kind take their usual
     * time. Lookups also do not explain a wait for a pool if the name of the lookup's thread begins with the name of a
     * different pool.
     */
    public static void passOn(
            Evidence evidence, ExcessTime excess, Operations operations, PeerKinds kinds, TimesByCause byCause) {
        NameLookups lookups = evidence.tasks().lookups();
        for (Part part : byCause.longestFirst()) {
            boolean isPool = part.kind() == Kind.POOL;
            Kind peer = isPool ? kinds.ofPool(part) : part.kind();
            // Database drivers look up names on the thread of the call, so this rule ignores waits for statements.
            boolean waits = isPool || part.kind() == Kind.HTTP || part.kind() == Kind.RPC || part.kind() == Kind.REDIS;
            String threads = peer == null || !waits
                    ? null
                    : lookups.threadsFor(peer, group -> !isPool || !kinds.areOfAnotherPool(group, part));
            Part lookup = threads != null && (isPool || !areQuick(part.kind(), excess, operations))
                    ? new Part(Kind.RESOLVER, "threads " + threads)
                    : isPool && peer != null ? ofOpeningCalls(peer, excess) : null;
            if (lookup != null) {
                Times one = new Times();
                one.add(lookup, 1);
                byCause.pour(part, one, TimesByCause.WAIT_FOR + (part.name().isEmpty() ? "an answer" : part.name()));
            }
        }
    }

    /**
     * Returns the name lookups by calls that are opening a connection for a pool of the given kind of peer. Returns
     * null if few samples show such lookups, or if more samples show calls that use a connection. Some pools open a
     * connection on the calling thread. Until the connection is open, the call occupies one of the pool's connections,
     * and other calls wait. The pool does not record this time as use of the connection.
     */
    private static @Nullable Part ofOpeningCalls(Kind peer, ExcessTime excess) {
        Phase waits = switch (peer) {
            case HTTP -> Phase.HTTP_CONNECTION;
            case REDIS -> Phase.REDIS_CONNECTION;
            default -> Phase.JDBC_CONNECTION;
        };
        Phase uses = Operations.phase(peer);
        Times lookups = new Times();
        int used = 0;
        for (Sample sample : excess.samples.all()) {
            used += sample.phase() == uses ? 1 : 0;
            if (sample.phase() == waits && sample.part().kind() == Kind.RESOLVER) {
                lookups.add(sample.part(), 1);
            }
        }
        return lookups.sum() >= MIN_LOOKS && lookups.sum() >= used
                ? lookups.longestFirst().get(0)
                : null;
    }

    /**
     * Attributes all host name lookups to the code with the most expensive lookups. The whole process uses the same
     * resolver, so slow lookups in different code have one cause.
     */
    public static void merge(TimesByCause byCause) {
        Part longest = byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.RESOLVER)
                .findFirst()
                .orElse(null);
        for (Part part : byCause.longestFirst()) {
            if (longest != null && part.kind() == Kind.RESOLVER && !part.equals(longest)) {
                byCause.move(part, longest);
            }
        }
    }

    /**
     * Returns whether several operations of the given kind took about their usual time in calls that met the target.
     * Calls from before the miss of the latency target do not count, because the lookups may have been quick then.
     */
    private static boolean areQuick(Kind kind, ExcessTime excess, Operations operations) {
        Phase phase = Operations.phase(kind);
        int quick = 0;
        for (EndedCall call : excess.goodDuringMiss()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                double usual = phase != null && entry.kind() == phase ? operations.usualNamed(phase, entry.name()) : -1;
                quick += usual > 0 && entry.nanos() <= QUICK_FACTOR * usual * entry.count() ? entry.count() : 0;
            }
        }
        return quick >= MIN_QUICK;
    }
}
