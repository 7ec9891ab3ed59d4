package tern.rpc.spring.autoconfigure.advice;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tern.rpc.advice.Finding;
import tern.rpc.advice.Severity;

/** Says once what can be said of the configuration, then looks every few seconds until the application ends. */
final class AdviceLifecycle implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(CapacityAdvice.class);

    private final CapacityAdvice advice;
    private boolean said; // guarded by this

    @Nullable
    private ScheduledExecutorService timer; // guarded by this

    AdviceLifecycle(CapacityAdvice advice) {
        this.advice = advice;
    }

    @Override
    public synchronized void start() {
        if (!said) {
            said = true;
            say(advice.atStart());
        }
        if (timer == null) {
            timer = Executors.newSingleThreadScheduledExecutor(AdviceLifecycle::thread);
            timer.scheduleWithFixedDelay(this::look, 0, CapacityAdvice.INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "rpc-advice");
        thread.setDaemon(true);
        return thread;
    }

    private static void say(List<Finding> findings) {
        for (Finding finding : findings) {
            if (finding.severity() == Severity.HINTS) {
                LOG.info("{}", finding);
            } else {
                LOG.warn("{}", finding);
            }
        }
    }

    private void look() {
        try {
            advice.look();
        } catch (RuntimeException e) {
            LOG.warn("A pool could not be looked at; advice is about the others and what was seen before", e);
        }
    }

    @Override
    public synchronized void stop() {
        if (timer != null) {
            timer.shutdownNow();
            timer = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return timer != null;
    }
}
