package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Attributes;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Finds attributes of {@link RpcReference} and {@link RpcService} that have no effect. {@link UnusedSettings} finds
 * properties without effect.
 */
final class UnusedAttributes {

    private UnusedAttributes() {}

    /**
     * Returns the attributes of a reference that have no effect, each with the reason.
     *
     * @param where the place of the annotation
     */
    static List<String> of(ReferenceSettings reference, RpcReference annotation, String where) {
        List<String> found = new ArrayList<>();
        Class<?> type = reference.type();
        if (!annotation.timeout().isEmpty() && hasOnlyStreams(type)) {
            found.add("@RpcReference(timeout) at " + where + " (all methods of " + type.getSimpleName()
                    + " are streams; set @RpcMethod(timeout) on a method of the interface)");
        }
        if (annotation.connections() > 0 && reference.protocol().equals("http")) {
            found.add("@RpcReference(connections) at " + where + " (with http, each call that runs has a connection)");
        }
        return found;
    }

    private static boolean hasOnlyStreams(Class<?> type) {
        return ServiceDescriptor.of(type).methods().stream().allMatch(method -> method.type() != MethodType.UNARY);
    }

    /** Returns the attributes of the services that have no effect, each with the reason. */
    static List<String> ofServices(ConfigurableListableBeanFactory beans, RpcServerProperties server) {
        List<String> found = new ArrayList<>();
        if (!server.enabled() || !server.registry().isEmpty()) {
            return found;
        }
        for (String name : beans.getBeanNamesForAnnotation(RpcService.class)) {
            RpcService annotation = ExportedBeans.annotation(beans, name);
            if (annotation != null && annotation.weight() != Attributes.DEFAULT_WEIGHT) {
                found.add("@RpcService(weight) of bean '" + name + "' (needs rpc.server.registry; without a registry,"
                        + " callers write the weight into rpc.client.url, as in host:port?weight=50)");
            }
        }
        return found;
    }
}
