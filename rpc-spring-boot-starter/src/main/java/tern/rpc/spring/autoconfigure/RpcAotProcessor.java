package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Registers the interfaces that a bean exports or references, and the classes in their signatures, for a native image.
 */
final class RpcAotProcessor implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Set<Class<?>> exported = exported(bean);
        Set<Class<?>> referred = referred(bean);
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

    private static Set<Class<?>> referred(RegisteredBean bean) {
        Set<Class<?>> types = new LinkedHashSet<>();
        Class<?> own = bean.getBeanClass();
        ReflectionUtils.doWithFields(own, field -> types.add(field.getType()), RpcAotProcessor::isReference);
        ReflectionUtils.doWithMethods(own, method -> addParameters(method, types));
        Arrays.stream(own.getDeclaredConstructors()).forEach(constructor -> addParameters(constructor, types));
        Method factory = bean.getMergedBeanDefinition().getResolvedFactoryMethod();
        if (factory != null) {
            addParameters(factory, types);
        }
        types.removeIf(type -> !type.isInterface());
        return types;
    }

    private static void addParameters(Executable called, Set<Class<?>> types) {
        boolean all = called instanceof Method method && method.getReturnType() == void.class && isReference(method);
        Arrays.stream(called.getParameters())
                .filter(parameter -> all || isReference(parameter))
                .map(Parameter::getType)
                .forEach(types::add);
    }

    private static boolean isReference(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RpcReference.class);
    }

    private static void registerTypes(RuntimeHints hints, Class<?> service) {
        hints.reflection().registerType(service, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (MethodDescriptor method : ServiceDescriptor.of(service).methods()) {
            Stream.concat(method.parameters().stream(), Stream.of(method.result()))
                    .map(ValueType::generic)
                    .forEach(type ->
                            new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(), type));
        }
    }
}
