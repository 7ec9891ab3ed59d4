package tern.rpc;

/**
 * A served call at one moment.
 *
 * @param method as in messages: {@code OrderService.place}
 * @param threadId of the thread that runs it, or ran it before it went on without one
 * @param phase what it does
 * @param phaseNanos since when
 * @param runningNanos since it was received
 */
public record RunningCall(String method, long threadId, Phase phase, long phaseNanos, long runningNanos) {}
