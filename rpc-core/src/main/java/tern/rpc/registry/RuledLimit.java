package tern.rpc.registry;

/**
 * A limit on the running calls of a provider, set by a rule in a registry.
 *
 * @param interfaceName the interface of the service, for all its groups and versions
 * @param method the method name; empty for each method of the interface
 * @param maxConcurrency the maximum number of calls to the method that run at the same time; 0 for no limit, which also
 *     removes any other limit of the method
 * @param rule the place where the rule can be changed
 */
public record RuledLimit(String interfaceName, String method, int maxConcurrency, String rule) {

    public RuledLimit {
        if (maxConcurrency < 0) {
            throw new IllegalArgumentException("a limit is " + maxConcurrency + "; expected 0 or more");
        }
    }
}
