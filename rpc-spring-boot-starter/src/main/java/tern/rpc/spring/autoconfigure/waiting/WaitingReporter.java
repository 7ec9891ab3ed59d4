package tern.rpc.spring.autoconfigure.waiting;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.RunningCall;
import tern.rpc.advice.PoolSnapshot;
import tern.rpc.advice.PoolSource;
import tern.rpc.server.RpcServer;
import tern.rpc.waiting.BuiltInClassifiers;
import tern.rpc.waiting.StackClassifier;
import tern.rpc.waiting.ThreadDump;
import tern.rpc.waiting.VitalsReader;
import tern.rpc.waiting.WaitingReport;

/** Looks at threads, running calls and pools. Beans of type {@link StackClassifier} are asked first. Thread-safe. */
public final class WaitingReporter {

    private final ObjectProvider<RpcServer> servers;
    private final ObjectProvider<PoolSource> pools;
    private final ObjectProvider<StackClassifier> classifiers;
    private final VitalsReader vitals = new VitalsReader();

    WaitingReporter(
            ObjectProvider<RpcServer> servers,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<StackClassifier> classifiers) {
        this.servers = servers;
        this.pools = pools;
        this.classifiers = classifiers;
    }

    /** As of now; stops the JVM for some milliseconds while stacks are collected. */
    public WaitingReport report() {
        List<RunningCall> running = servers.orderedStream()
                .flatMap(server -> server.runningCalls().stream())
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
