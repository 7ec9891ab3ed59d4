package tern.rpc;

/**
 * A part of a call that another thread runs while the call's own thread does something else. Computes how much of the
 * part's time counts towards the call's time. Only the part's thread may use this object.
 */
final class CallPart {

    private final CallLedger call;
    // the call's idle time when this part was created or when its times were last added to the call
    private long idleBefore;

    CallPart(CallLedger call, long idleBefore) {
        this.call = call;
        this.idleBefore = idleBefore;
    }

    /** Returns the ledger of the whole call. */
    CallLedger call() {
        return call;
    }

    /**
     * Returns the share of the given time, from 0 to 1, that counts towards the call's time. The call waits for the
     * part only while the call's own thread is idle. Therefore, no more than this idle time is counted. Nothing is
     * counted after the call has been answered.
     *
     * @param spentNanos the time that this part has taken since this method was last called
     */
    double share(long spentNanos) {
        long idle = call.idleNanos();
        double share = spentNanos == 0 ? 1 : Math.min(1, (double) (idle - idleBefore) / spentNanos);
        idleBefore = idle;
        return call.isEnded() ? 0 : Math.max(0, share);
    }
}
