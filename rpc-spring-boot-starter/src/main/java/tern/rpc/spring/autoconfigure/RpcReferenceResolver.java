package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.InjectionPoint;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.ContextAnnotationAutowireCandidateResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.env.Environment;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.LocalRpcPort;
import tern.rpc.spring.RpcReference;

/**
 * Provides a remote proxy for every injection point with {@link RpcReference}, before the bean factory looks for beans.
 * If {@link OverridingBeans} finds a local bean for the injection point, the resolver provides that bean instead of the
 * proxy. The bean factory calls its resolver for each dependency, because a resolver also supplies the proxies for lazy
 * beans.
 */
final class RpcReferenceResolver extends ContextAnnotationAutowireCandidateResolver {

    private static final Logger LOG = LoggerFactory.getLogger(RpcReferenceResolver.class);

    private static final String ENVIRONMENT = ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME;

    /** Installs the resolver before the first bean is created. */
    static final class Installer implements BeanFactoryPostProcessor {
        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            FallbackBeans.prepare(beans);
            ((DefaultListableBeanFactory) beans).setAutowireCandidateResolver(new RpcReferenceResolver());
        }
    }

    @Override
    public @Nullable Object getLazyResolutionProxyIfNecessary(
            DependencyDescriptor dependency, @Nullable String beanName) {
        MergedAnnotation<RpcReference> reference = referenceAt(dependency);
        BeanFactory beans = getBeanFactory();
        if (!reference.isPresent() || beans == null) {
            return super.getLazyResolutionProxyIfNecessary(dependency, beanName);
        }
        return resolved(beans, dependency, reference.synthesize(), beanName);
    }

    /**
     * Returns the injected object for an {@code Optional}, {@code ObjectProvider} or {@code Provider}. The bean factory
     * unwraps these types before it looks for beans.
     */
    @Override
    public @Nullable Object getSuggestedValue(DependencyDescriptor dependency) {
        BeanFactory beans = getBeanFactory();
        MergedAnnotation<RpcReference> reference = referenceAt(dependency);
        if (beans instanceof DefaultListableBeanFactory factory) {
            checkPort(factory, dependency);
        }
        return reference.isPresent() && beans != null
                ? resolved(beans, dependency, reference.synthesize(), null)
                : super.getSuggestedValue(dependency);
    }

    /**
     * Rejects {@link LocalRpcPort} in an application without a server, because such an application has no RPC port. A
     * test that starts a server itself can set the property to the port of this server.
     */
    private static void checkPort(DefaultListableBeanFactory beans, DependencyDescriptor dependency) {
        if (MergedAnnotations.from(dependency.getAnnotations()).isPresent(LocalRpcPort.class)
                && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RpcServerLifecycle.class, true, false)
                                .length
                        == 0
                && !(beans.containsBean(ENVIRONMENT)
                        && beans.getBean(ENVIRONMENT, Environment.class).containsProperty("local.rpc.port"))) {
            throw new RpcStartException(
                    place(dependency) + " has @LocalRpcPort, but this application has no RPC server: it has no"
                            + " @RpcService bean, or rpc.server.enabled is false",
                    "Add the provider's configuration to the application, or remove @LocalRpcPort.",
                    null);
        }
    }

    /**
     * Returns the object to inject.
     *
     * @param requestedBy the bean that contains the reference; null if the bean factory does not report it
     */
    private static Object resolved(
            BeanFactory beans, DependencyDescriptor dependency, RpcReference annotation, @Nullable String requestedBy) {
        Class<?> type = typeOf(dependency);
        RpcReferences references = beans.getBean(RpcReferences.class);
        String place = place(dependency);
        checkType(type, dependency, place);
        if (!(beans instanceof DefaultListableBeanFactory factory)) {
            return references.proxy(type, annotation, place);
        }
        OverridingBeans overriding = new OverridingBeans(factory);
        String override = overriding.find(dependency, annotation, requestedBy, place);
        if (override != null) {
            references.overridden(type, annotation, place);
            return beans.getBean(override);
        }
        if (MergedAnnotations.from(dependency.getAnnotations()).isPresent(Qualifier.class)) {
            LOG.info(
                    "{} makes remote calls: its @Qualifier selects among local beans, such as mocks, and chooses no"
                            + " provider. To choose one, set group or version in @RpcReference",
                    place);
        }
        try {
            return references.proxy(type, annotation, place);
        } catch (RpcStartException e) {
            throw overriding.otherNames().isEmpty() ? e : withBeans(e, overriding.otherNames());
        }
    }

    /**
     * Checks the type before local beans of this type are searched. A reference whose type is a class is invalid even
     * if there is a local bean of this class.
     */
    private static void checkType(Class<?> type, InjectionPoint point, String place) {
        try {
            ReferencedType.check(type, place);
        } catch (RpcStartException e) {
            MethodParameter parameter = point.getMethodParameter();
            Method method = parameter == null ? null : parameter.getMethod();
            if (method == null
                    || method.getParameterCount() < 2
                    || on(point.getAnnotations()).isPresent()) {
                throw e;
            }
            throw new RpcStartException(
                    String.valueOf(e.getMessage()),
                    "@RpcReference on the method " + method.getName() + " applies to all its parameters: put"
                            + " @Autowired on the method, and @RpcReference on the parameters that are remote"
                            + " services.",
                    e);
        }
    }

    /**
     * Returns a copy of the failure that also names the local beans that were probably meant to replace the remote
     * proxy.
     */
    private static RpcStartException withBeans(RpcStartException failure, List<String> beans) {
        return new RpcStartException(
                failure.getMessage() + "; the local beans " + String.join(", ", beans)
                        + " override this type, but have other names",
                "Give one of these beans the name of the field or parameter, or set name in @RpcReference to its name."
                        + " Without such a bean: " + failure.action(),
                failure);
    }

    /** Returns the injection point's type. Type variables in superclasses are resolved with the bean's class. */
    private static Class<?> typeOf(DependencyDescriptor dependency) {
        Class<?> type = dependency.getResolvableType().resolve();
        return type == null ? dependency.getDependencyType() : type;
    }

    /** Returns the proxy's class. Called during ahead-of-time processing, which adds the class to the native image. */
    @Override
    public @Nullable Class<?> getLazyResolutionProxyClass(DependencyDescriptor dependency, @Nullable String beanName) {
        // The dependency's type has not been unwrapped yet. It can be an Optional or a provider of the interface.
        Class<?> type = ReferencedServices.service(dependency.getResolvableType());
        if (!referenceAt(dependency).isPresent() || type == null) {
            return super.getLazyResolutionProxyClass(dependency, beanName);
        }
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> null)
                .getClass();
    }

    static MergedAnnotation<RpcReference> referenceAt(InjectionPoint point) {
        MergedAnnotation<RpcReference> reference = on(point.getAnnotations());
        MethodParameter parameter = point.getMethodParameter();
        Method method = parameter == null ? null : parameter.getMethod();
        if (!reference.isPresent() && method != null && method.getReturnType() == void.class) {
            // The annotation of a setter can be on the method instead of its parameter.
            return on(method.getAnnotations());
        }
        return reference;
    }

    private static MergedAnnotation<RpcReference> on(Annotation[] annotations) {
        return MergedAnnotations.from(annotations).get(RpcReference.class);
    }

    /**
     * Returns a description of the injection point for error messages, such as {@code OrderController.users} or {@code
     * OrderController, parameter 1 of the constructor}.
     */
    static String place(InjectionPoint point) {
        MethodParameter parameter = point.getMethodParameter();
        if (parameter == null) {
            return point.getMember().getDeclaringClass().getName() + "."
                    + point.getMember().getName();
        }
        Method method = parameter.getMethod();
        return parameter.getContainingClass().getName() + ", parameter " + (parameter.getParameterIndex() + 1) + " of "
                + (method == null ? "the constructor" : method.getName());
    }
}
