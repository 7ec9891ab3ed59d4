package tern.rpc.cluster;

import java.util.List;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * An application's load balancing policy, with its name for logs and error messages.
 *
 * @param name the name, such as the name of a bean
 */
public record NamedPolicy(String name, Balancer.Factory factory) implements Balancer.Factory {

    @Override
    public Balancer of(List<Candidate> candidates) {
        return factory.of(candidates);
    }
}
