package tern.rpc.endpoint;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Removes repeated endpoints from a list. Keeps the first occurrence of each endpoint. */
final class DistinctEndpoints {

    private DistinctEndpoints() {}

    static List<Instance> of(Iterable<Instance> instances) {
        Set<Endpoint> seen = new HashSet<>();
        List<Instance> distinct = new ArrayList<>();
        for (Instance instance : instances) {
            if (seen.add(instance.endpoint())) {
                distinct.add(instance);
            }
        }
        return List.copyOf(distinct);
    }
}
