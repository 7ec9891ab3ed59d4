package tern.rpc.spring.autoconfigure.advice;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tern.rpc.advice.Finding;
import tern.rpc.advice.Severity;

/**
 * Logs the findings on the configuration once as a hint, and the findings on a minute of calls once. Checks every few
 * seconds until the application ends.
 */
final class AdviceLifecycle implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(CapacityAdvice.class);

    private final CapacityAdvice advice;
    private boolean said; // guarded by this
    private boolean warned; // used by the timer's thread only

    @Nullable
    private ScheduledExecutorService timer; // guarded by this

    AdviceLifecycle(CapacityAdvice advice) {
        this.advice = advice;
    }

    @Override
    public synchronized void start() {
        if (!said) {
            said = true;
            hint(advice.atStart());
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

    /** Logs a hint. Before any call it is arithmetic and no warning. */
    private static void hint(List<Finding> findings) {
        if (!findings.isEmpty()) {
            LOG.info("Hints on capacity, by the settings alone: {}", joined(findings));
        }
    }

    private void warn(List<Finding> findings) {
        warned = true;
        List<Finding> serious = findings.stream()
                .filter(finding -> finding.severity() != Severity.HINTS)
                .toList();
        if (!serious.isEmpty()) {
            LOG.warn("Capacity, by a minute of calls: {}", joined(serious));
        }
    }

    private static String joined(List<Finding> findings) {
        return findings.stream().map(Finding::toString).collect(Collectors.joining(" | "));
    }

    private void look() {
        try {
            advice.look();
            if (!warned) {
                advice.afterAMinuteOfCalls().ifPresent(this::warn);
            }
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
