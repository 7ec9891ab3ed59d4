package tern.rpc.cluster;

import java.util.List;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * A load balancing policy of the application, with its name for logs and error messages.
 *
 * @param name the name, such as the name of a bean
 */
public record NamedPolicy(String name, Balancer.Factory factory) implements Balancer.Factory {

    @Override
    public Balancer of(List<Candidate> candidates) {
        return factory.of(candidates);
    }
}
