package tern.rpc.metrics;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceKey;

/**
 * The calls to one method of the server, across all protocols and outcomes. Streams are not counted, because the
 * application chooses how long a stream lasts. An object takes about 8 KB of memory, which is allocated on the first
 * call. Thread-safe.
 */
public final class MethodCalls {

    private final String service;
    private final String method;
    private final MethodMinute minute;

    MethodCalls(ServiceKey service, MethodDescriptor method, long targetNanos) {
        this.service = service.toString();
        this.method = method.name();
        this.minute = new MethodMinute(targetNanos);
    }

    /**
     * @param failed whether the call failed with an exception that the method does not declare
     * @param second the current second on the clock that times the calls
     */
    void ended(long tookNanos, boolean failed, long second) {
        minute.ended(tookNanos, failed, second);
    }

    /** Returns the key of the service in the form of {@link ServiceKey#toString()}. */
    public String service() {
        return service;
    }

    public String method() {
        return method;
    }

    /**
     * Returns the calls in the last 60 to 70 s, or null if there were none.
     *
     * @param second the current second on the clock that times the calls
     */
    public LatencyWindow.@Nullable Point lastMinute(long second) {
        return minute.sum(second);
    }
}
