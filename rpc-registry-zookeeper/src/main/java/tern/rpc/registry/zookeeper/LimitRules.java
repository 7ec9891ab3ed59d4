package tern.rpc.registry.zookeeper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.registry.Registration;
import tern.rpc.registry.RuledLimit;
import tern.rpc.registry.dubbo.rules.Rule;

/**
 * Watches the rules that limit the running calls of this process: the rules for its application and for each of its
 * services. Confined to the session's thread.
 */
final class LimitRules {

    /** A rule, and the service that it is applied to. */
    private record Watched(ServiceKey service, RuleWatch watch) {}

    private final String application;
    private final Consumer<List<RuledLimit>> listener;
    // The rules for services are last in this list, so they take precedence.
    private final List<Watched> watched = new ArrayList<>();
    private List<RuledLimit> last = List.of();
    private Endpoint own; // the address that this process publishes

    LimitRules(Session session, Registration registration, Consumer<List<RuledLimit>> listener) {
        this.application = registration.application();
        this.own = new Endpoint(registration.host(), registration.port());
        this.listener = listener;
        List<ServiceKey> services =
                registration.services().stream().map(Registration.Service::key).toList();
        for (ServiceKey service : services) {
            add(session, Rule.Kind.PROVIDER_CONFIGURATORS, application, service);
        }
        for (ServiceKey service : services) {
            add(session, Rule.Kind.CONFIGURATORS, RuleWatches.name(service), service);
        }
    }

    private void add(Session session, Rule.Kind kind, String name, ServiceKey service) {
        watched.add(new Watched(service, new RuleWatch(session, kind, name, service, this::changed)));
    }

    void start() {
        watched.forEach(each -> each.watch().start());
    }

    /**
     * Called when this process publishes its registration. From then on, the rules for the address in the registration
     * apply.
     */
    void follow(Registration registration) {
        if (registration.application().equals(application)) {
            own = new Endpoint(registration.host(), registration.port());
            changed();
        }
    }

    private void changed() {
        if (!watched.stream().allMatch(each -> each.watch().isHeard())) {
            return; // The limits are reported only after all rules have been read.
        }
        // As in Dubbo, a limit of a single method takes precedence over a limit for all methods, even if the limits are
        // in different rules.
        List<RuledLimit> limits = watched.stream()
                .flatMap(this::limits)
                .sorted(Comparator.comparing(limit -> !limit.method().isEmpty()))
                .toList();
        if (!limits.equals(last)) {
            listener.accept(limits);
            // The limits are recorded only after the listener has accepted them. If the listener fails, it gets the
            // same limits again later.
            last = limits;
        }
    }

    private Stream<RuledLimit> limits(Watched each) {
        Rule rule = each.watch().rule();
        if (rule == null) {
            return Stream.empty();
        }
        return rule.executes(own, application).entrySet().stream()
                .map(limit -> new RuledLimit(
                        each.service().interfaceName(),
                        limit.getKey(),
                        limit.getValue(),
                        each.watch().key()));
    }
}
