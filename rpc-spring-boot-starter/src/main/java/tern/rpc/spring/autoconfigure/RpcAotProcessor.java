package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.spring.RpcService;

/**
 * Registers the interfaces that a bean exports or references, and the classes in their signatures, for a native image.
 */
final class RpcAotProcessor implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Set<Class<?>> exported = exported(bean);
        Set<Class<?>> referred = ReferencedServices.of(
                bean.getBeanClass(), bean.getMergedBeanDefinition().getResolvedFactoryMethod());
        if (exported.isEmpty() && referred.isEmpty()) {
            return null;
        }
        return (generation, code) -> {
            RuntimeHints hints = generation.getRuntimeHints();
            Stream.concat(exported.stream(), referred.stream()).forEach(service -> registerTypes(hints, service));
            referred.forEach(service -> hints.proxies().registerJdkProxy(service));
        };
    }

    private static Set<Class<?>> exported(RegisteredBean bean) {
        RpcService annotation = ExportedBeans.annotation(bean.getBeanFactory(), bean.getBeanName());
        return annotation == null
                ? Set.of()
                : ExportedBeans.interfaces(bean.getBeanFactory(), bean.getBeanName(), annotation);
    }

    private static void registerTypes(RuntimeHints hints, Class<?> service) {
        hints.reflection().registerType(service, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (MethodDescriptor method : methods(service)) {
            Stream.concat(method.parameters().stream(), Stream.of(method.result()))
                    .map(ValueType::generic)
                    .forEach(type ->
                            new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(), type));
        }
    }

    /**
     * Returns the methods of a service interface. Returns an empty result if the interface cannot be a service, because
     * an error message at startup explains the reason.
     */
    private static List<MethodDescriptor> methods(Class<?> service) {
        try {
            return ServiceDescriptor.of(service).methods();
        } catch (IllegalArgumentException refused) {
            return List.of();
        }
    }
}
