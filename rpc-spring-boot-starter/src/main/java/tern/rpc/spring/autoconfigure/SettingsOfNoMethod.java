package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;

/**
 * Finds method settings that apply to no method of their service. Also finds settings that apply to two interfaces but
 * were probably meant for only one interface.
 */
final class SettingsOfNoMethod {

    private SettingsOfNoMethod() {}

    /**
     * Returns the properties without effect, each with the reason.
     *
     * @param prefix the prefix of the properties, which ends with a dot
     */
    static List<String> find(String prefix, RpcClientProperties.Service service, Set<ReferenceSettings> references) {
        List<MethodDescriptor> methods = references.stream()
                .map(ReferenceSettings::type)
                .distinct()
                .flatMap(type -> ServiceDescriptor.of(type).methods().stream())
                .toList();
        String names = references.stream()
                .map(reference -> reference.type().getSimpleName())
                .distinct()
                .sorted()
                .collect(Collectors.joining(" and "));
        List<String> found = new ArrayList<>();
        boolean isRepeatable = methods.stream().anyMatch(MethodDescriptor::isIdempotent)
                || service.methods().values().stream().anyMatch(method -> Boolean.TRUE.equals(method.idempotent()));
        if (Boolean.TRUE.equals(service.hedging()) && !isRepeatable) {
            found.add(prefix + "hedging (no method of " + names + " is marked as idempotent; mark it with"
                    + " @RpcMethod(idempotent = true))");
        }
        if (service.timeout() != null && methods.stream().allMatch(method -> method.type() != MethodType.UNARY)) {
            found.add(prefix + "timeout (all methods of " + names + " are streams; set " + prefix
                    + "methods.<method>.timeout)");
        }
        return found;
    }

    /**
     * Returns a sentence for each entry that applies to several interfaces only because the interfaces have the same
     * simple name.
     *
     * @param references the references by the name of their properties
     */
    static List<String> shared(RpcClientProperties client, Map<String, Set<ReferenceSettings>> references) {
        List<String> shared = new ArrayList<>();
        references.forEach((name, all) -> {
            Set<Class<?>> types = all.stream().map(ReferenceSettings::type).collect(Collectors.toUnmodifiableSet());
            boolean isSimpleName = types.stream()
                    .map(type -> ClientSettings.uniform(type.getSimpleName()))
                    .allMatch(ClientSettings.uniform(name)::equals);
            if (types.size() > 1 && isSimpleName && client.services().containsKey(name)) {
                shared.add(ClientSettings.PREFIX + name + " applies to "
                        + types.stream().map(Class::getName).sorted().collect(Collectors.joining(" and ")));
            }
        });
        return shared;
    }
}
