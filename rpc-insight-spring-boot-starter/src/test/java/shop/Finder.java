package shop;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Creates an executor, and passes it to another bean that was created before. */
public final class Finder implements AutoCloseable {

    /** Stores the executor of another class. */
    public static final class Alerts {
        private volatile Executor executor = Runnable::run;

        public Executor executor() {
            return executor;
        }
    }

    private final ThreadPoolExecutor finders =
            new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());

    public Finder(Alerts alerts) {
        alerts.executor = finders;
    }

    public Executor executor() {
        return finders;
    }

    @Override
    public void close() {
        finders.shutdownNow();
    }
}
