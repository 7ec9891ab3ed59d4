package tern.rpc.diagnosis.excess;

import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;

/**
 * Recognizes the delay of 40 ms that Nagle's algorithm and delayed TCP acknowledgements together add to each exchange.
 * One side waits for an acknowledgement before it sends the rest of a message, and the other side delays the
 * acknowledgement. A longer network path may also add such a delay, so the result is only a hint.
 */
public final class DelayedAcks {

    /**
     * An exchange counts as delayed only if it takes at least {@value} ns longer than usual. Linux delays an
     * acknowledgement for 40 ms.
     */
    private static final double MIN_NANOS = 38e6;

    private static final double MAX_NANOS = 45e6;

    /**
     * Only exchanges whose usual time is at most {@value} ns are considered. This limit must be much shorter than the
     * delay of 40 ms.
     */
    private static final double MAX_USUAL_NANOS = 10e6;

    private static final int MIN_EXCHANGES = 10;

    /** The delay is recognized if at least {@value} of the exchanges take about 40 ms longer than usual. */
    private static final double MOST = 0.8;

    private DelayedAcks() {}

    /**
     * Returns a hint about delayed acknowledgements for the recommended change; empty if delayed acknowledgements do
     * not explain the exchanges' duration.
     */
    public static String hint(Part part, ExcessTime excess, Operations operations) {
        Phase phase = Operations.phase(part.kind());
        int all = 0;
        int delayed = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                boolean isOne = entry.kind() == phase
                        && (part.name().isEmpty() || OperationNames.isNamed(entry.name(), part.name()));
                if (isOne && phase != null && entry.count() == 1) {
                    double usual = operations.usualNamed(phase, entry.name());
                    double longer = entry.nanos() - usual;
                    all++;
                    boolean isDelay = longer >= MIN_NANOS && longer <= MAX_NANOS;
                    delayed += usual >= 0 && usual <= MAX_USUAL_NANOS && isDelay ? 1 : 0;
                }
            }
        }
        return all >= MIN_EXCHANGES && delayed >= MOST * all
                ? "; each takes about 40 ms longer: either the round trip of the network does (ping shows it), or"
                        + " acknowledgements are delayed (set TCP_NODELAY on both sides, or send each message in one"
                        + " piece)"
                : "";
    }
}
