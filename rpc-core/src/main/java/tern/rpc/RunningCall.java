package tern.rpc;

/**
 * A snapshot of a served call.
 *
 * @param method the method name, for example {@code OrderService.place}
 * @param threadId the id of the thread that runs the call; {@link #NO_THREAD} if the call continues without a thread
 * @param phase the current phase
 * @param phaseNanos the time since the current phase began
 * @param runningNanos the time since the call was received
 * @param ledger the call's ledger, which also identifies the call
 */
public record RunningCall(
        String method, long threadId, Phase phase, long phaseNanos, long runningNanos, CallLedger ledger) {

    /**
     * The thread id of a call that no thread is running: the asynchronous method has returned, but its result is not
     * complete yet.
     */
    public static final long NO_THREAD = -1;

    public RunningCall withoutThread() {
        return new RunningCall(method, NO_THREAD, phase, phaseNanos, runningNanos, ledger);
    }
}
