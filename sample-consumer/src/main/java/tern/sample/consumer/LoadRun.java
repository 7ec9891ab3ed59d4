package tern.sample.consumer;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import tern.rpc.load.LatencyReport;
import tern.rpc.load.Load;
import tern.rpc.load.OpenLoopDriver;
import tern.rpc.load.Tally;

/** Drives the load that {@link LoadProperties} ask for, once, and keeps its report. */
@Component
public class LoadRun implements DisposableBean {

    private final SampleScenario scenario;
    private final LoadProperties properties;
    private final @Nullable Load load;
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

    /** Of the last run, or null before its end. */
    public @Nullable LatencyReport report() {
        return report;
    }

    /**
     * Blocks until the run has ended.
     *
     * @return whether it passed; false if it was stopped
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
        String run = "run-" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
        OpenLoopDriver current = new OpenLoopDriver(scenario.create(run), wanted);
        driver = current;
        Tally tally = current.run(second -> out.println(second.toText()));
        if (stopped) {
            return false;
        }
        LatencyReport result = LatencyReport.of(tally, properties.target(wanted));
        report = result;
        out.println();
        out.print(result.toText());
        out.flush();
        Path resultFile = properties.resultFile();
        if (resultFile != null) {
            AtomicFile.write(resultFile, result.passed() ? "PASS\n" : "FAIL\n");
        }
        return result.passed();
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
