package tern.rpc.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Replaces a balancer that could not be created. Each call fails with the reason.
 *
 * @param why the error message, which names the load balancing policy and the reason
 */
record BrokenBalancer(String why) implements Balancer {

    private static final Logger LOG = LoggerFactory.getLogger(BrokenBalancer.class);

    /** Creates the balancer that the settings specify. */
    static Balancer made(ClusterSettings settings, List<Candidate> candidates) {
        String why = "the load balancing " + settings.policyName() + " cannot be used: its factory ";
        try {
            @Nullable Balancer made = settings.policy().of(candidates);
            if (made != null) {
                return made;
            }
            why += "returned null";
            LOG.error("{}; all calls fail", why);
        } catch (RuntimeException | Error e) {
            why += "threw " + Thrown.text(e);
            String text = why;
            Thrown.log(e, exception -> LOG.error("{}; all calls fail", text, exception));
        }
        return new BrokenBalancer(why);
    }

    @Override
    public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long nowNanos) {
        throw RpcException.refusal(StatusCode.INTERNAL, why, Executed.NO);
    }
}
