package tern.rpc;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Writes log lines on a separate thread. Threads that must never block, such as event loops and the diagnosis thread,
 * log through this class. A log appender can block, for example a console appender whose output nobody reads. At most
 * {@value #MAX_WAITING} lines wait for the appender; further lines are dropped. The thread ends while there is nothing
 * to write. Thread-safe.
 */
public final class LogThread implements Executor {

    private static final int MAX_WAITING = 16;
    private static final LogThread SHARED = new LogThread();

    private final Executor writer = new ThreadPoolExecutor(
            0,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            LogThread::create,
            new ThreadPoolExecutor.DiscardPolicy());

    LogThread() {}

    /** Returns the instance that all components share. */
    public static LogThread shared() {
        return SHARED;
    }

    private static Thread create(Runnable work) {
        Thread thread = new Thread(work, "rpc-log");
        thread.setDaemon(true);
        return thread;
    }

    /** Writes the line soon, or drops it if too many lines wait. Never blocks. */
    @Override
    public void execute(Runnable line) {
        writer.execute(line);
    }
}
