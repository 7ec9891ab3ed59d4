package tern.rpc;

/**
 * A served call at one moment.
 *
 * @param method as in messages: {@code OrderService.place}
 * @param threadId of the thread that runs it; {@link #NO_THREAD} when it goes on without one
 * @param phase what it does
 * @param phaseNanos since when
 * @param runningNanos since it was received
 */
public record RunningCall(String method, long threadId, Phase phase, long phaseNanos, long runningNanos) {

    /** For an asynchronous method that has returned, and that somebody will complete. */
    public static final long NO_THREAD = -1;

    public RunningCall withoutThread() {
        return new RunningCall(method, NO_THREAD, phase, phaseNanos, runningNanos);
    }
}
