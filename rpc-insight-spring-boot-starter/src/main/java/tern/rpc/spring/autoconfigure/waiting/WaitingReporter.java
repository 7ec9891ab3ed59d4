package tern.rpc.spring.autoconfigure.waiting;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.waiting.BuiltInClassifiers;
import tern.rpc.waiting.StackClassifier;
import tern.rpc.waiting.ThreadDump;
import tern.rpc.waiting.VitalsReader;
import tern.rpc.waiting.WaitingReport;

/**
 * Creates the waiting report from threads, running calls and pools. Beans of type {@link StackClassifier} are called
 * first. Thread-safe.
 */
public final class WaitingReporter {

    private final ObjectProvider<CallSource> calls;
    private final ObjectProvider<PoolSource> pools;
    private final ObjectProvider<StackClassifier> classifiers;
    private final VitalsReader vitals = new VitalsReader();

    WaitingReporter(
            ObjectProvider<CallSource> calls,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<StackClassifier> classifiers) {
        this.calls = calls;
        this.pools = pools;
        this.classifiers = classifiers;
    }

    /** The present report. Pauses the JVM for some milliseconds to collect stacks. */
    public WaitingReport report() {
        List<RunningCall> running = calls.orderedStream()
                .flatMap(source -> source.runningCalls().stream())
                .toList();
        List<PoolSnapshot> snapshots =
                pools.orderedStream().map(PoolSource::snapshot).toList();
        return WaitingReport.of(
                vitals.read(),
                ThreadDump.take(running),
                running,
                snapshots,
                BuiltInClassifiers.after(classifiers.orderedStream().toList()));
    }
}
