package tern.rpc.metrics;

import java.util.concurrent.atomic.LongAdder;

/**
 * The calls to one remote method since the start of the process, by all references and threads. Streams are not
 * counted, because the application chooses how long a stream lasts. Thread-safe.
 */
public final class CalledMethod {

    private final String name;
    private final LongAdder calls = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    CalledMethod(String name) {
        this.name = name;
    }

    void ended(long tookNanos) {
        calls.increment();
        nanos.add(tookNanos);
    }

    /** Returns the name of the method with the simple name of its service, such as {@code StockService.reserve}. */
    public String name() {
        return name;
    }

    /** Returns the number of completed calls, including failed calls. */
    public long calls() {
        return calls.sum();
    }

    /** Returns the total duration of the completed calls, in nanoseconds. */
    public long totalNanos() {
        return nanos.sum();
    }
}
