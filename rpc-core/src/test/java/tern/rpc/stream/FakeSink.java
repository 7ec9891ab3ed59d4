package tern.rpc.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/** A sink that stores the values sent to it. The test determines whether it is ready. */
final class FakeSink implements MessageSink {

    final List<@Nullable Object> sent = new ArrayList<>();
    final AtomicInteger ends = new AtomicInteger();
    final List<Throwable> failures = new ArrayList<>();
    volatile boolean ready = true;
    volatile boolean full; // true if the sink stops being ready after each value
    volatile @Nullable RpcException refuses;
    volatile @Nullable RpcException over;
    volatile long mayWaitNanos = Long.MAX_VALUE;
    final AtomicLong waitedNanos = new AtomicLong();
    volatile Deadline deadline = Deadline.none();

    void close() {
        over = RpcException.refusal(StatusCode.CANCELLED, "the call is over", Executed.MAYBE);
    }

    @Override
    public synchronized void send(@Nullable Object value) {
        if (refuses != null) {
            throw refuses;
        }
        sent.add(value);
        if (full) {
            ready = false;
        }
    }

    @Override
    public boolean isReady() {
        return ready && over == null;
    }

    @Override
    public long mayWaitNanos() {
        return mayWaitNanos;
    }

    @Override
    public void hasWaited(long nanos) {
        waitedNanos.addAndGet(nanos);
        mayWaitNanos = 0;
    }

    @Override
    public @Nullable RpcException over() {
        return over;
    }

    @Override
    public void end() {
        ends.incrementAndGet();
    }

    @Override
    public synchronized void fail(Throwable cause) {
        failures.add(cause);
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }
}
