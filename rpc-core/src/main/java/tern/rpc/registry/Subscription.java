package tern.rpc.registry;

import java.util.List;
import tern.rpc.ServiceKey;

/**
 * A consumer's subscription to the providers of a service.
 *
 * @param protocol the consumer's protocol, such as {@code dubbo}
 * @param providedBy the applications that offer the service, or empty to look them up in the registry
 */
public record Subscription(ServiceKey service, String protocol, List<String> providedBy, Level level) {

    /** The kinds of entries to read, for registries that have entries for services and for processes. */
    public enum Level {
        /** One entry for each service of a process. */
        INTERFACE,
        /** One entry for each process. */
        APPLICATION,
        /** Entries for services and for processes. A process with entries of both kinds is used only once. */
        BOTH;

        public boolean hasInterfaces() {
            return this != APPLICATION;
        }

        public boolean hasApplications() {
            return this != INTERFACE;
        }
    }

    public Subscription {
        providedBy = List.copyOf(providedBy);
    }

    public Subscription(ServiceKey service, String protocol) {
        this(service, protocol, List.of(), Level.BOTH);
    }
}
