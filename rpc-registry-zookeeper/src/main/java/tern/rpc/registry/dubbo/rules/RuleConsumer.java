package tern.rpc.registry.dubbo.rules;

import java.util.Set;

/**
 * The consumer that applies the rules.
 *
 * @param application the name of the application; empty if unknown
 * @param hosts the addresses of the consumer's machine
 */
public record RuleConsumer(String application, Set<String> hosts) {

    public RuleConsumer {
        hosts = Set.copyOf(hosts);
    }
}
