package tern.rpc.stream;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.transport.EventLoopThread;

/**
 * The observer through which the application sends values. While the peer is slow, {@link #onNext} blocks until the
 * call ends or until the time limit of the {@link MessageSink} has passed. The observer then passes the value to the
 * sink, which may reject the value.
 */
public final class OutboundObserver implements StreamObserver<Object>, MessageWriter {

    private final String name;
    private final MessageSink sink;
    private final SerialExecutor serial;
    private final NanoClock clock;
    private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;
    private volatile @Nullable Runnable onReady;

    /**
     * @param name the call name, for error messages
     * @param serial runs the task set by {@link #onReady}
     */
    public OutboundObserver(String name, MessageSink sink, SerialExecutor serial, NanoClock clock) {
        this.name = name;
        this.sink = sink;
        this.serial = serial;
        this.clock = clock;
    }

    /**
     * @throws RpcException if the call has ended or the value cannot be encoded. An exception during encoding ends the
     *     call and is rethrown
     * @throws IllegalStateException if the stream of values has ended, or if the calling thread is an event loop and
     *     would have to block
     */
    @Override
    public void onNext(Object value) {
        if (ended) {
            throw new IllegalStateException(name + ": onNext after onCompleted or onError");
        }
        awaitReady();
        try {
            sink.send(value);
        } catch (Throwable e) { // Sending has failed, for example because a getter of the value threw an exception.
            ended = true;
            sink.abort(e);
            throw e;
        }
    }

    private void awaitReady() {
        if (sink.isReady()) {
            return;
        }
        Thread self = Thread.currentThread();
        waiting.add(self);
        try {
            while (!sink.isReady()) {
                throwIfOver();
                if (self instanceof EventLoopThread) {
                    throw new IllegalStateException(name + ": onNext would have to wait on the event loop "
                            + self.getName() + "; check isReady() before, or send from another thread");
                }
                long maxNanos = sink.mayWaitNanos();
                if (maxNanos <= 0) {
                    return;
                }
                long began = clock.nanoTime();
                LockSupport.parkNanos(this, Math.min(maxNanos, sink.deadline().remainingNanos(began)));
                if (maxNanos != Long.MAX_VALUE) {
                    sink.hasWaited(clock.nanoTime() - began);
                }
                if (Thread.interrupted()) {
                    self.interrupt();
                    throw new RpcException(
                            StatusCode.CANCELLED, name + ": the sending thread was interrupted", Executed.MAYBE, null);
                }
            }
        } finally {
            waiting.remove(self);
        }
    }

    private void throwIfOver() {
        RpcException over = sink.over();
        if (over != null) {
            throw over;
        }
        if (sink.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    name + ": the deadline passed while the peer accepted no more messages",
                    Executed.MAYBE);
        }
    }

    @Override
    public void onCompleted() {
        if (!ended) {
            ended = true;
            sink.end();
        }
    }

    @Override
    public void onError(Throwable failure) {
        if (!ended) {
            ended = true;
            // the call must end even if the application gives no reason
            sink.fail(failure == null ? new NullPointerException(name + ": onError was called with null") : failure);
        }
    }

    @Override
    public boolean isReady() {
        return !ended && sink.isReady();
    }

    @Override
    public void onReady(Runnable task) {
        onReady = task;
        if (isReady()) {
            serial.execute(this::runOnReady);
        }
    }

    @Override
    public void compress(boolean compressed) {
        sink.compress(compressed);
    }

    @Override
    public void wake() {
        waiting.forEach(LockSupport::unpark);
        if (onReady != null && isReady()) {
            serial.execute(this::runOnReady);
        }
    }

    @Override
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    @Override
    public void over() {
        wake();
    }

    private void runOnReady() {
        Runnable task = onReady;
        if (task == null || ended || sink.over() != null) {
            return;
        }
        try {
            task.run();
        } catch (Throwable e) {
            ended = true;
            sink.abort(e);
        }
    }
}
