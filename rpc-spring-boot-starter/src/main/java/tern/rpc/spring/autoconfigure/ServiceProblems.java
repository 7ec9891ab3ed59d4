package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.InvalidServiceException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.Serializer;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcService;

/**
 * Collects the problems of all service interfaces of an application. The first problem stops the start; without this
 * class, a developer would see the next problem only at the next start. Creates no services and no references.
 */
final class ServiceProblems {

    private static final Logger LOG = LoggerFactory.getLogger(ServiceProblems.class);

    private final ConfigurableListableBeanFactory beans;
    private final Map<Class<?>, Uses> services = new LinkedHashMap<>();

    /**
     * Supplies the protocols of references. The bean that implements this interface also uses {@code ServiceProblems}.
     */
    interface Protocols {

        /** Returns whether a reference sends JSON; false if its settings are invalid. */
        boolean sendsJson(ReferencedServices.Reference reference);
    }

    /** The beans that export or call a service. */
    private static final class Uses {
        private final List<String> places = new ArrayList<>();
        private boolean serialized; // whether values of the service are sent in hessian2

        void add(String place, boolean serialized) {
            if (!places.contains(place)) {
                places.add(place);
            }
            this.serialized |= serialized;
        }
    }

    private ServiceProblems(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns a failure that names the problems of all services, if there are more problems than the first failure
     * names. Otherwise, returns the first failure.
     */
    static RpcStartException withAll(ConfigurableListableBeanFactory beans, RpcStartException first) {
        try {
            ServiceProblems all = new ServiceProblems(beans);
            all.addExports();
            all.addReferences();
            return all.explained(first);
        } catch (RuntimeException | LinkageError e) {
            // The search fails if a class of the application refers to a missing library.
            LOG.debug("The problems of other services are not known", e);
            return first;
        }
    }

    private void addExports() {
        for (String name : beans.getBeanNamesForAnnotation(RpcService.class)) {
            RpcService annotation = ExportedBeans.annotation(beans, name);
            if (annotation != null) {
                ExportedBeans.interfaces(beans, name, annotation)
                        .forEach(type -> uses(type).add("exported by bean '" + name + "'", true));
            }
        }
    }

    private void addReferences() {
        Protocols protocols = beans.getBeanProvider(Protocols.class).getIfAvailable();
        if (protocols != null) {
            AwaitedReferences.inAll(beans)
                    .forEach((reference, bean) -> uses(reference.service())
                            .add("called by bean '" + bean + "'", !protocols.sendsJson(reference)));
        }
    }

    private Uses uses(Class<?> service) {
        return services.computeIfAbsent(service, added -> new Uses());
    }

    private RpcStartException explained(RpcStartException first) {
        StringBuilder text = new StringBuilder();
        int count = 0;
        int invalid = 0;
        for (Map.Entry<Class<?>, Uses> service : services.entrySet()) {
            List<String> problems = problems(service.getKey(), service.getValue().serialized);
            if (!problems.isEmpty()) {
                count += problems.size();
                invalid++;
                text.append("\n\n").append(service.getKey().getName()).append(", ");
                text.append(String.join(" and ", service.getValue().places)).append(":");
                text.append(InvalidServiceException.list(problems));
            }
        }
        return count < 2
                ? first
                : new RpcStartException(
                        (invalid == 1 ? "A service has " : invalid + " services have ") + count + " problems:" + text,
                        first.action(),
                        first);
    }

    private List<String> problems(Class<?> service, boolean serialized) {
        List<String> problems = new ArrayList<>();
        ServiceDescriptor checked = null;
        try {
            checked = ServiceDescriptor.of(service);
        } catch (InvalidServiceException e) {
            problems.addAll(e.problems());
            checked = e.rest();
        } catch (IllegalArgumentException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        if (checked != null && serialized) {
            try {
                beans.getBean(Serializer.class).prepare(checked);
            } catch (InvalidServiceException e) {
                problems.addAll(e.problems());
            } catch (IllegalArgumentException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
        return problems;
    }
}
