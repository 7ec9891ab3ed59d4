package tern.rpc.netty;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;

/**
 * An event loop that continues after an {@link Error} such as an {@link OutOfMemoryError}. After an error, Netty's own
 * event loop would end, and its connections would hang until the process ends.
 *
 * <p>The event loop also divides its time between sockets and tasks, and among the addresses of peers ({@link
 * LoopShares}).
 */
final class ErrorTolerantLoop extends SingleThreadIoEventLoop {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorTolerantLoop.class);

    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    /**
     * The pause after an error. Without the pause, an error that occurs again and again would occupy a whole processor.
     */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * The maximum time for which the event loop runs tasks before it polls the sockets again. Netty's default is one
     * second. With this default, new requests would wait for up to a second, because workers that serve streams add
     * tasks constantly.
     */
    static final long TASKS_NANOS = LoopShares.PASS_NANOS;

    private final LoopShares shares = new LoopShares(this);
    private final SeldomWarning warning = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);

    ErrorTolerantLoop(IoEventLoopGroup parent, Executor executor, IoHandlerFactory handlers) {
        super(parent, executor, handlers);
    }

    /** Returns the object that divides the time of this event loop among client addresses. */
    LoopShares shares() {
        return shares;
    }

    @Override
    protected int runIo() {
        try {
            return super.runIo();
        } catch (Error e) {
            survived(e);
            return 0;
        }
    }

    @Override
    protected boolean runAllTasks(long timeoutNanos) {
        boolean ran;
        try {
            ran = super.runAllTasks(Math.min(timeoutNanos, TASKS_NANOS));
        } catch (Error e) {
            survived(e);
            ran = true;
        }
        try {
            // passEnds() is called even after an error, because paused connections might otherwise never be read again
            shares.passEnds();
        } catch (Error e) {
            survived(e);
            ran = true;
        }
        return ran;
    }

    private void survived(Error error) {
        LockSupport.parkNanos(PAUSE_NANOS);
        try {
            warning.warn(() -> "An error occurred on an event loop, which continues: " + error, null);
        } catch (Error e) {
            // There is too little memory to write a log line. The next error on this event loop will be logged instead.
        }
    }
}
