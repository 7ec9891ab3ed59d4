package tern.rpc.client;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.Target;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.RemoteFailures;

/** Describes why the providers of a reference cannot be reached, for error messages. Thread-safe. */
record ProviderFailures(Cluster cluster, NanoClock clock) {

    private static final int MAX_ADDRESSES_NAMED = 5;

    /**
     * Extends the message of the last attempt's failure with the reason why no other provider accepted the call. The
     * reason names up to {@value #MAX_ADDRESSES_NAMED} other addresses.
     */
    RpcException explained(RpcException failure, Target used, Invocation call) {
        RemoteFailures.Missing missing = RemoteFailures.missing(failure);
        if (missing != RemoteFailures.Missing.NOTHING) {
            return explainedMissing(failure, call, missing == RemoteFailures.Missing.SERVICE ? "service" : "method");
        }
        if (failure.code() != StatusCode.UNAVAILABLE || failure.wasExecuted() != Executed.NO) {
            return failure;
        }
        List<Target> others =
                cluster.targets().stream().filter(target -> target != used).toList();
        String why = cluster.whyAvoided(clock.nanoTime());
        if (others.isEmpty() || used.isUsable() || others.stream().anyMatch(Target::isUsable)) {
            String reasons = why + cluster.advice();
            return reasons.isEmpty() ? failure : with(reasons, failure);
        }
        int more = others.size() - MAX_ADDRESSES_NAMED;
        String reasons = why.isEmpty()
                ? "; none of the " + (others.size() + 1) + " addresses can be reached; the others: "
                        + others.stream()
                                .limit(MAX_ADDRESSES_NAMED)
                                .map(this::withReason)
                                .collect(Collectors.joining(", "))
                        + (more > 0 ? " and " + more + " more" : "")
                : why;
        return with(reasons + cluster.advice(), failure);
    }

    /** Extends a failure's message with the number of providers that lack the method or the service. */
    private RpcException explainedMissing(RpcException failure, Invocation call, String what) {
        long now = clock.nanoTime();
        String method = call.method().distinctName();
        List<Target> all = cluster.targetsWithOrWithout(method, CallTags.tag(call), CallTags.isForced(call));
        List<Target> others = all.stream()
                .filter(target -> !cluster.lacks(target, method, now))
                .toList();
        if (all.size() < 2 || others.size() == all.size()) {
            return failure;
        }
        if (others.isEmpty()) {
            return failure.explained("; " + (all.size() == 2 ? "both" : "all " + all.size())
                    + " providers were asked, and none of them has the " + what);
        }
        String asked = "; providers asked: " + (all.size() - others.size()) + " of " + all.size()
                + ", none of which has the " + what;
        if (others.stream().anyMatch(Target::isUsable)) {
            return failure.explained(asked + "; later calls go to the others");
        }
        int more = others.size() - MAX_ADDRESSES_NAMED;
        return failure.explained(asked + "; the others cannot be reached: "
                + others.stream()
                        .limit(MAX_ADDRESSES_NAMED)
                        .map(this::withReason)
                        .collect(Collectors.joining(", "))
                + (more > 0 ? " and " + more + " more" : ""));
    }

    /** Extends a failure's description with the reasons why providers cannot be reached. */
    private static RpcException with(String reasons, RpcException failure) {
        Status status = failure.status();
        return RpcException.refusal(
                new Status(status.code(), status.description() + reasons, status.details()),
                failure.wasExecuted(),
                failure.metadata());
    }

    private String withReason(Target target) {
        String reason = reason(target);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(target.node().link().outOfReachNanos(clock.nanoTime()));
        String since = seconds == 0 ? "" : (reason.isEmpty() ? "" : ", ") + "for " + seconds + " s";
        return target.endpoint() + (reason.isEmpty() && since.isEmpty() ? "" : " (" + reason + since + ")");
    }

    /**
     * Returns up to {@value #MAX_ADDRESSES_NAMED} addresses, each with the reason why it cannot be reached, for error
     * messages.
     */
    String all() {
        List<Target> targets = cluster.targets();
        int more = targets.size() - MAX_ADDRESSES_NAMED;
        String reasons = targets.isEmpty()
                ? cluster.sourceName() + ": no address found"
                : targets.stream()
                                .limit(MAX_ADDRESSES_NAMED)
                                .map(ProviderFailures::failure)
                                .collect(Collectors.joining("; "))
                        + (more > 0 ? "; and " + more + " more" : "");
        return reasons + cluster.whyAvoided(clock.nanoTime()) + cluster.advice();
    }

    private static String failure(Target target) {
        return target.endpoint() + ": " + reason(target);
    }

    private static String reason(Target target) {
        ClientConnection connection = target.node().link().opened();
        if (connection == null) {
            return "not connected yet";
        }
        if (!connection.isAvailable()) {
            return connection.lastFailure();
        }
        return connection.wasHeard()
                ? target.attributes().draining() ? "about to stop" : "connected"
                : "accepts connections but has sent nothing; check whether its process is frozen";
    }
}
