package tern.rpc.diagnosis;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Writes the log lines of the diagnosis on a separate thread. An appender may block, for example a console whose reader
 * has stopped, and the diagnosis must then still name this appender. At most {@value #MAX_WAITING} lines wait for the
 * appender; further lines are dropped. The thread ends while there is nothing to write.
 */
final class LogThread implements Executor {

    private static final int MAX_WAITING = 16;

    private final Executor writer = new ThreadPoolExecutor(
            0,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            LogThread::create,
            new ThreadPoolExecutor.DiscardPolicy());

    private static Thread create(Runnable work) {
        Thread thread = new Thread(work, "rpc-diagnosis-log");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void execute(Runnable line) {
        writer.execute(line);
    }
}
