package tern.sample.consumer;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import tern.rpc.load.LatencyReport;
import tern.rpc.load.Load;
import tern.rpc.load.OpenLoopDriver;
import tern.rpc.load.Tally;

/** Runs the load described by {@link LoadProperties}, at startup or on request, and keeps the last report. */
@Component
public class LoadRun implements DisposableBean {

    private final SampleScenario scenario;
    private final LoadProperties properties;
    private final @Nullable Load load;
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile @Nullable OpenLoopDriver driver;
    private volatile @Nullable LatencyReport report;
    private volatile boolean stopped;

    LoadRun(SampleScenario scenario, LoadProperties properties) {
        this.scenario = scenario;
        this.properties = properties;
        this.load = properties.load();
    }

    boolean requested() {
        return load != null;
    }

    boolean keepRunning() {
        return properties.keepRunning();
    }

    /** Returns the report of the last run, or null if no run has ended. */
    public @Nullable LatencyReport report() {
        return report;
    }

    /**
     * Runs the load once and blocks until it has ended.
     *
     * @return whether the run met its target; false if the run was stopped
     */
    boolean run() throws InterruptedException, IOException {
        Path reportFile = properties.reportFile();
        if (reportFile == null) {
            return run(System.out);
        }
        try (OutputStream file = Files.newOutputStream(reportFile)) {
            return run(new PrintStream(file, true, StandardCharsets.UTF_8));
        }
    }

    private boolean run(PrintStream out) throws InterruptedException, IOException {
        Load wanted = load;
        if (wanted == null) {
            throw new IllegalStateException("load.rate is not set; expected calls a second");
        }
        LatencyReport result = drive(wanted, second -> out.println(second.toText()));
        if (stopped) {
            return false;
        }
        out.println();
        out.print(result.toText());
        out.flush();
        Path resultFile = properties.resultFile();
        if (resultFile != null) {
            AtomicFile.write(resultFile, result.passed() ? "PASS\n" : "FAIL\n");
        }
        return result.passed();
    }

    /**
     * Runs the load again at the given rate, with all other properties unchanged. Blocks until the run has ended.
     *
     * @throws IllegalStateException if another run has not ended
     */
    public LatencyReport again(double rate) throws InterruptedException {
        return drive(properties.load(rate), second -> {});
    }

    private LatencyReport drive(Load wanted, OpenLoopDriver.Progress progress) throws InterruptedException {
        if (!running.compareAndSet(false, true)) {
            throw new IllegalStateException("a load is being driven; ask again when it has ended");
        }
        try {
            String run = "run-" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
            OpenLoopDriver current = new OpenLoopDriver(scenario.create(properties.scenario(), run), wanted);
            driver = current;
            Tally tally = current.run(progress);
            LatencyReport result = LatencyReport.of(tally, properties.target(wanted));
            report = stopped ? report : result;
            return result;
        } finally {
            running.set(false);
        }
    }

    @Override
    public void destroy() {
        stopped = true;
        OpenLoopDriver current = driver;
        if (current != null) {
            current.stop();
        }
    }
}
