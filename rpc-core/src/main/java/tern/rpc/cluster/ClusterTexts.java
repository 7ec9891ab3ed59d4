package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.TimeUnit;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.EndpointSnapshot;

/** The messages for calls without a provider. Each message says why there is none, since when, and where to look. */
final class ClusterTexts {

    private static final int MAX_NAMED = 5;

    private ClusterTexts() {}

    /** Creates the failure of a call for which no provider is known. */
    static RpcException nobody(String service, String source, String tag, Routes routes, LastGood list, long now) {
        if (routes.isRuledOut()) {
            return RpcException.refusal(
                    StatusCode.UNAVAILABLE,
                    "no provider of " + service + " may take the call: all "
                            + routes.all().size() + " (" + named(routes.all()) + ") are excluded by " + routes.rules()
                            + "; look at the rules",
                    Executed.NO);
        }
        String text = routes.all().isEmpty()
                ? "no address of " + service + " is known; " + reason(source, list, now)
                : "no provider of " + service + " may take the call: "
                        + routes.all().size() + " are known, "
                        + (tag.isEmpty()
                                ? "but all have a tag and the call has none"
                                : "but none has the tag '" + tag + "'")
                        + " (" + named(routes.all()) + "); look at the tags of the providers and of the call";
        return RpcException.refusal(StatusCode.UNAVAILABLE, text, Executed.NO);
    }

    private static String reason(String source, LastGood list, long now) {
        EndpointSnapshot snapshot = list.snapshot();
        String why = snapshot.why().isEmpty() ? "" : ": " + snapshot.why();
        if (list.emptied() && snapshot.state() != EndpointSnapshot.State.UNKNOWN) {
            long seconds = TimeUnit.NANOSECONDS.toSeconds(now - list.heldSinceNanos());
            return "looked at " + source + ", whose list is empty since " + snapshot.since() + why
                    + "; the providers held for " + seconds
                    + " s are all gone; look whether providers run and register";
        }
        return switch (snapshot.state()) {
            case UNKNOWN ->
                "looked at " + source + ", which was never heard since " + snapshot.since() + why
                        + "; look whether it can be reached";
            case STALE -> "looked at " + source + ", which is out of reach since " + snapshot.since() + why;
            case FRESH ->
                "looked at " + source + ", whose " + snapshot.instances().size()
                        + " addresses are all of other protocols";
            default ->
                "looked at " + source + ", whose list is empty since " + snapshot.since()
                        + "; look whether providers run and register";
        };
    }

    /** A text to add to the failure of a call that found no good provider; empty if the providers are not at fault. */
    static String avoided(List<Target> targets, long now) {
        if (targets.isEmpty()) {
            return "";
        }
        if (targets.stream().allMatch(target -> target.attributes().draining())) {
            return "; all " + targets.size() + " providers are about to stop and ask for no new calls: "
                    + named(targets) + "; look whether new ones were started";
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
                    .append(TimeUnit.NANOSECONDS.toSeconds(node.ejection().forNanos(now)))
                    .append(" s more)");
        }
        return text.append("; look at their logs").toString();
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
