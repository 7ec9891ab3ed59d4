package tern.rpc.cluster;

import java.util.List;
import java.util.stream.Collectors;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.EndpointSnapshot;

/**
 * Error messages for calls that find no provider. Each message states the reason, how long no provider has been
 * available, and where to look for the cause.
 */
final class ClusterTexts {

    private static final int MAX_NAMED = 5;

    private ClusterTexts() {}

    /** Returns the failure of a call whose service has no known provider. The message ends with the given advice. */
    static RpcException nobody(
            String service, String source, String tag, Routes routes, LastGood list, long now, String advice) {
        return RpcException.refusal(
                StatusCode.UNAVAILABLE, whyNobody(service, source, tag, routes, list, now) + advice, Executed.NO);
    }

    /** Returns the failure of a call made through a closed client. */
    static RpcException closed(String service) {
        return RpcException.refusal(
                StatusCode.UNAVAILABLE,
                "no call of " + service
                        + " is sent: the client is closed; find the code that makes calls during the shutdown",
                Executed.NO);
    }

    static String whyNobody(String service, String source, String tag, Routes routes, LastGood list, long now) {
        if (routes.isRuledOut()) {
            return "no provider of " + service + " may take the call: all "
                    + routes.all().size() + " (" + named(routes.all()) + ") are excluded by " + routes.rules()
                    + "; check the rules";
        }
        String leftOut = routes.leftOut(tag);
        if (leftOut != null) {
            return "no provider of " + service
                    + " may take the call: the client is not connected to the providers with the"
                    + " tag '" + leftOut + "'. The providers have more than " + ProviderChoice.MAX_TAGS
                    + " tags, and other calls already need too many of them; check the tags in " + source;
        }
        return routes.all().isEmpty()
                ? "no address of " + service + " is known; its source is " + source + ", " + reason(list, now)
                : "no provider of " + service + " may take the call: "
                        + routes.all().size() + " are known, "
                        + (tag.isEmpty()
                                ? "but all have a tag and the call has none"
                                : "but none has the tag '" + tag + "'")
                        + " (" + named(routes.all()) + "); check the tags of the providers and of the call";
    }

    private static String reason(LastGood list, long now) {
        EndpointSnapshot snapshot = list.snapshot();
        String since = " since " + snapshot.since() + (snapshot.why().isEmpty() ? "" : ": " + snapshot.why());
        String held = list.emptied() && snapshot.state() != EndpointSnapshot.State.UNKNOWN
                ? "; the providers that this client kept for " + ChangeTexts.time(now - list.heldSinceNanos())
                        + " are all gone"
                : "";
        return switch (snapshot.state()) {
            case UNKNOWN -> "which has not answered" + since + "; check whether it can be reached";
            case STALE -> "which cannot be reached" + since + held + "; check whether it can be reached";
            case EMPTY ->
                (snapshot.why().isEmpty() ? "whose list is empty" : "whose list has no usable address") + since + held
                        + "; check whether providers run and register";
            case FRESH ->
                "whose " + snapshot.instances().size() + " addresses all have other protocols ("
                        + snapshot.instances().stream()
                                .limit(MAX_NAMED)
                                .map(instance -> instance.endpoint().protocol() + "://" + instance.endpoint())
                                .collect(Collectors.joining(", "))
                        + (snapshot.instances().size() > MAX_NAMED
                                ? " and " + (snapshot.instances().size() - MAX_NAMED) + " more)"
                                : ")")
                        + since
                        + "; check the protocol of the reference";
        };
    }

    /**
     * Returns the reason why all providers are avoided: all are about to stop, or all are ejected. The caller appends
     * this text to the message of a failed call. Returns an empty string if not all providers are avoided.
     */
    static String avoided(List<Target> targets, long now) {
        if (targets.isEmpty()) {
            return "";
        }
        if (targets.stream().allMatch(target -> target.attributes().draining())) {
            long first = targets.stream()
                    .mapToLong(target -> target.drainsForNanos(now))
                    .max()
                    .orElse(0);
            return "; all " + targets.size() + " providers are about to stop and ask for no new calls, the first one"
                    + " for " + ChangeTexts.time(first) + ": " + named(targets)
                    + "; check whether new ones were started";
        }
        List<Target> ejected =
                targets.stream().filter(target -> target.node().isEjected(now)).toList();
        if (ejected.size() < targets.size()) {
            return "";
        }
        StringBuilder text = new StringBuilder("; all ").append(targets.size()).append(" providers failed lately: ");
        for (int i = 0; i < Math.min(MAX_NAMED, ejected.size()); i++) {
            Node node = ejected.get(i).node();
            text.append(i == 0 ? "" : ", ")
                    .append(node.endpoint())
                    .append(" (")
                    .append(node.ejection().why())
                    .append(", avoided for ")
                    .append(ChangeTexts.time(node.ejection().sinceNanos(now)))
                    .append(", and for ")
                    .append(ChangeTexts.time(node.ejection().forNanos(now)))
                    .append(" more)");
        }
        return text.append("; check their logs").toString();
    }

    private static String named(List<Target> targets) {
        String first = String.join(
                ", ",
                targets.stream()
                        .limit(MAX_NAMED)
                        .map(target -> target.endpoint().toString())
                        .toList());
        return targets.size() > MAX_NAMED ? first + " and " + (targets.size() - MAX_NAMED) + " more" : first;
    }
}
