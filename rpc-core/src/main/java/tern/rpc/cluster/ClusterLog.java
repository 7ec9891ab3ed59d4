package tern.rpc.cluster;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.SeldomWarning;

/** Logs which providers one reference uses or avoids, at a limited rate. Thread-safe. */
final class ClusterLog {

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private final String service;
    private final ChangeLog changes;
    private final SeldomWarning balancerFailures;

    /** @param service the name of the service in the log lines */
    ClusterLog(String service, Logger log, NanoClock clock, ScheduledExecutorService timer) {
        this.service = service;
        this.changes = new ChangeLog(log, clock, timer);
        this.balancerFailures = new SeldomWarning(log, clock, BETWEEN_WARNINGS);
    }

    /**
     * Logs that the client starts or stops using unlisted providers. Called when a new list is in use.
     *
     * @param source the name of the source of the lists
     */
    void listed(String source, LastGood before, LastGood next) {
        int listed = next.listed().size();
        int held = next.held().size();
        if (before.held().isEmpty() && held > 0) {
            changes.changed(
                    Level.WARN,
                    () -> service + ": " + source + " lists " + listed + " providers; " + held
                            + " more still answer and are kept");
        } else if (!before.held().isEmpty() && held == 0 && listed > 0) {
            changes.changed(Level.INFO, () -> service + ": " + source + " lists all used providers again");
        }
    }

    /** Logs that a provider has served a call to a service that it previously lacked. */
    void availableAgain(Target target) {
        changes.changed(Level.INFO, () -> service + " is available again at " + target.endpoint());
    }

    /** Logs that calls will avoid a provider, because the provider lacks the service. */
    void missing(Target target, long avoidedNanos, RpcException failure) {
        changes.changed(
                Level.WARN,
                () -> service + " is missing at " + target.endpoint() + ", which is avoided for "
                        + ChangeTexts.time(avoidedNanos) + " while another provider can take the calls: "
                        + PeerText.text(failure.status().description()));
    }

    /** Logs that calls to a method will avoid a provider, because the provider lacks the method. */
    void missingMethod(Target target, MethodDescriptor method, RpcException failure) {
        changes.changed(
                Level.INFO,
                () -> service + ": " + target.endpoint() + " has no method " + method.name()
                        + ", probably because it runs another release; calls to the method go to other providers: "
                        + PeerText.text(failure.status().description()));
    }

    /** Logs that the application's balancer has thrown an exception at the end of a call. */
    void balancerFailed(String policy, Throwable failure) {
        balancerFailures.warn(
                () -> service + ": the load balancing " + policy
                        + " threw an exception when a call ended; the call's outcome is not affected",
                failure);
    }
}
