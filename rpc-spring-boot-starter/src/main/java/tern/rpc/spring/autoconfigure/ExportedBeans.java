package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.Scope;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import tern.rpc.InvalidServiceException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcService;

/** Finds the beans to export. Creates only beans that are gRPC services. */
final class ExportedBeans {

    /** The name of Tern's server. An application can define its own server instead. */
    static final String SERVER = "rpcServer";

    /** The attribute of the server's bean definition that contains the names of the exported beans. */
    private static final String EXPORTED = ExportedBeans.class.getName() + ".exported";

    private static final Logger LOG = LoggerFactory.getLogger(ExportedBeans.class);

    /**
     * The scopes whose objects exist only during a web request. An RPC call is not a web request. An application can
     * register its own scopes under these names.
     */
    private static final Set<String> WEB_SCOPES = Set.of("request", "session", "websocket");

    private final ConfigurableListableBeanFactory beans;
    private final Map<ServiceKey, String> beanNames = new LinkedHashMap<>();
    private final List<ServiceExport> exports = new ArrayList<>();

    private ExportedBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns the exports of all beans with {@code @RpcService}.
     *
     * @throws RpcStartException if a bean cannot be exported; the message names the bean and the reason
     */
    static List<ServiceExport> in(ConfigurableListableBeanFactory beans) {
        ExportedBeans exported = new ExportedBeans(beans);
        Set<String> names = new HashSet<>();
        for (String name : beans.getBeanNamesForAnnotation(RpcService.class)) {
            RpcService annotation = annotation(beans, name);
            // For a scoped bean, the scoped proxy is exported instead of its target bean.
            String exportedName = originalName(name);
            if (annotation != null && names.add(exportedName)) {
                exported.add(exportedName, annotation);
            }
        }
        if (beans.containsBeanDefinition(SERVER)) {
            beans.getBeanDefinition(SERVER).setAttribute(EXPORTED, Set.copyOf(exported.beanNames.values()));
        }
        return exported.exports;
    }

    /** Returns whether at least one bean is exported under several interfaces. */
    static boolean haveSeveralInterfaces(ConfigurableListableBeanFactory beans, List<ServiceExport> exports) {
        return beans.containsBeanDefinition(SERVER)
                && beans.getBeanDefinition(SERVER).getAttribute(EXPORTED) instanceof Set<?> names
                && exports.size() > names.size();
    }

    /**
     * Checks the beans that have been created since the exports were found.
     *
     * @param exports the exports of the server
     * @throws RpcStartException if a bean is null or is not exported, or if its class has annotations without effect;
     *     the message names the bean
     */
    static void checkMade(ConfigurableListableBeanFactory beans, List<ServiceExport> exports) {
        Set<ServiceKey> exported = exports.stream().map(ServiceExport::key).collect(Collectors.toUnmodifiableSet());
        for (String name : beans.getBeanNamesForAnnotation(RpcService.class)) {
            if (!beans.containsSingleton(name)) {
                continue;
            }
            Object bean = beans.getSingleton(name);
            if (isNull(bean)) {
                throw new RpcStartException(
                        "Bean '" + name + "' is an @RpcService, but its @Bean method returned null",
                        "Return an object, or make the bean conditional, so that it is not created.",
                        null);
            }
            RpcService annotation = annotation(beans, name);
            if (bean != null && annotation != null) {
                // The following checks need the bean's class. If the @Bean method returns an interface, the class was
                // unknown until the bean was created.
                Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
                Set<Class<?>> services = interfaces(beans, name, annotation);
                checkExported(beans, name, annotation, services, exported);
                MisplacedMarks.check(name, type, services);
                AsyncServices.check(name, bean, type, services);
                UncheckedConstraints.check(beans, type, services);
                SecuredMethods.check(beans, type, services);
                JavaxAnnotations.check(type, services);
            }
        }
    }

    /**
     * Checks that a bean is exported. A bean is not exported if the annotation is only on its class and its
     * {@code @Bean} method declares a different type, because the class was unknown when the server was created. The
     * check accepts a bean with at least one exported interface, because the type that a {@code @Bean} method declares
     * limits the exported interfaces.
     */
    private static void checkExported(
            ConfigurableListableBeanFactory beans,
            String name,
            RpcService annotation,
            Set<Class<?>> services,
            Set<ServiceKey> exported) {
        Object names = beans.containsBeanDefinition(SERVER)
                ? beans.getBeanDefinition(SERVER).getAttribute(EXPORTED)
                : null;
        // If the server bean lacks the attribute EXPORTED, the application has defined the server, and decides which
        // services it exports.
        if (!(names instanceof Set<?> exportedNames) || exportedNames.contains(originalName(name))) {
            return;
        }
        // The bean is accepted if a customizer has exported it.
        ExportedBeans found = new ExportedBeans(beans);
        if (!services.isEmpty()
                && services.stream().noneMatch(service -> exported.contains(found.key(name, service, annotation)))) {
            throw new RpcStartException(
                    "Bean '" + name + "' is an @RpcService, but it is not exported, because "
                            + LateServices.reason(beans, name),
                    LateServices.action(beans, name),
                    null);
        }
    }

    /**
     * Returns the annotation of a bean; null if the bean has no annotation. The annotation of the {@code @Bean} method
     * takes precedence over the annotation of the class. In Spring's own lookup, the annotation of the class would take
     * precedence.
     */
    static @Nullable RpcService annotation(ConfigurableListableBeanFactory beans, String name) {
        String defined = definedAs(beans, name);
        if (beans.containsBeanDefinition(defined)
                && beans.getMergedBeanDefinition(defined) instanceof RootBeanDefinition definition
                && definition.getResolvedFactoryMethod() != null) {
            RpcService ofMethod =
                    AnnotatedElementUtils.findMergedAnnotation(definition.getResolvedFactoryMethod(), RpcService.class);
            if (ofMethod != null) {
                return ofMethod;
            }
        }
        return beans.findAnnotationOnBean(name, RpcService.class, false);
    }

    /** Returns whether the bean is null. Spring represents a null bean as an object that is equal to null. */
    @SuppressWarnings("EqualsNull")
    private static boolean isNull(@Nullable Object bean) {
        return bean == null || bean.equals(null);
    }

    /**
     * Returns the service interfaces of a bean. For a gRPC service, returns only the interfaces that the annotation
     * names.
     */
    static Set<Class<?>> interfaces(ConfigurableListableBeanFactory beans, String name, RpcService annotation) {
        Class<?> type = targetClass(beans, name);
        if (type == null || isGrpc(type, annotation)) {
            return new LinkedHashSet<>(Arrays.asList(annotation.interfaces()));
        }
        Class<?> own = ClassUtils.getUserClass(type);
        return annotation.interfaces().length > 0
                ? ServiceInterfaces.named(name, own, annotation.interfaces())
                : ServiceInterfaces.all(name, own, declaredType(beans, name));
    }

    /** Returns the type that the {@code @Bean} method of a bean declares; null if there is no such method. */
    private static @Nullable Class<?> declaredType(ConfigurableListableBeanFactory beans, String name) {
        Method factory = LateServices.factoryMethod(beans, definedAs(beans, name));
        return factory == null ? null : factory.getReturnType();
    }

    private static @Nullable Class<?> targetClass(ConfigurableListableBeanFactory beans, String name) {
        return AutoProxyUtils.determineTargetClass(beans, definedAs(beans, name));
    }

    private static String originalName(String name) {
        return ScopedProxyUtils.isScopedTarget(name) ? ScopedProxyUtils.getOriginalBeanName(name) : name;
    }

    /** Returns the name of the bean's definition. For a scoped proxy, returns the name of its target's definition. */
    static String definedAs(ConfigurableListableBeanFactory beans, String name) {
        String target = ScopedProxyUtils.getTargetBeanName(name);
        return beans.containsBeanDefinition(target) ? target : name;
    }

    private static boolean isGrpc(Class<?> type, RpcService annotation) {
        return annotation.interfaces().length == 0 && GrpcBeans.isGrpc(type);
    }

    private void add(String name, RpcService annotation) {
        checkScope(name);
        Class<?> bean = targetClass(beans, name);
        if (bean == null && annotation.interfaces().length == 0) {
            throw new RpcStartException(
                    "Bean '" + name + "' is an @RpcService, but its type is not known before it is created",
                    "Name the interfaces of the service in @RpcService(interfaces), or let the @Bean method or the"
                            + " FactoryBean declare the class.",
                    null);
        }
        if (bean != null && isGrpc(bean, annotation)) {
            add(name, grpcExport(name, annotation));
            return;
        }
        Set<Class<?>> services = interfaces(beans, name, annotation);
        if (bean != null) {
            MisplacedMarks.check(name, ClassUtils.getUserClass(bean), services);
            WebMappings.log(ClassUtils.getUserClass(bean), services);
        }
        for (Class<?> type : services) {
            add(name, export(name, type, key(name, type, annotation), annotation.weight()));
        }
    }

    /** Rejects a bean whose scope requires a web request, because all calls to it would fail. */
    private void checkScope(String name) {
        String defined = definedAs(beans, name);
        String scope = beans.containsBeanDefinition(defined)
                ? beans.getMergedBeanDefinition(defined).getScope()
                : null;
        if (scope != null && WEB_SCOPES.contains(scope) && needsRequest(beans.getRegisteredScope(scope))) {
            throw new RpcStartException(
                    "Bean '" + name + "' is an @RpcService with the scope " + scope
                            + ", but a call is not a web request, so each call would fail",
                    "Remove the scope. A service reads values of its call, such as headers, from"
                            + " ServerContext.current().",
                    null);
        }
    }

    /**
     * Returns whether each use of the scope fails outside a web request. Returns true for a scope that is not
     * registered.
     */
    private static boolean needsRequest(@Nullable Scope scope) {
        return scope == null
                || ServiceInterfaces.isIn("org.springframework.web", scope.getClass())
                || ServiceInterfaces.isIn("org.springframework.messaging", scope.getClass());
    }

    private ServiceKey key(String name, Class<?> type, RpcService annotation) {
        return new ServiceKey(
                ServiceDescriptor.nameOf(type),
                text("group", annotation.group(), name),
                text("version", annotation.version(), name));
    }

    private void add(String name, ServiceExport export) {
        String other = beanNames.putIfAbsent(export.key(), name);
        if (other != null) {
            throw exportedTwice(export.key(), other, name);
        }
        exports.add(export);
        LOG.debug("Exporting {} from bean '{}'", export.key(), name);
    }

    /**
     * Two beans of the same class usually come from a {@code @Bean} method for a class that the component scan finds,
     * too.
     */
    private RpcStartException exportedTwice(ServiceKey key, String one, String other) {
        Class<?> type = targetClass(beans, other);
        String sameClass = type != null && type.equals(targetClass(beans, one)) ? type.getName() : null;
        return new RpcStartException(
                key + " is exported twice, by the beans '" + one + "' and '" + other + "'"
                        + (sameClass == null ? "" : ", which are both of " + sameClass),
                sameClass != null
                        ? "Remove the @Bean method: a class with @RpcService is a bean without it, if the component"
                                + " scan finds the class or another class with @Configuration contains it. If two beans"
                                + " of the class are intended, give one of them another group or version."
                        : "Give one of the two another group or version, or name its interfaces.",
                null);
    }

    /**
     * Exports a gRPC service. The export creates the bean, because only the bean itself provides the list of its
     * methods.
     */
    private ServiceExport grpcExport(String name, RpcService annotation) {
        OptionalModules.checkProtobuf("Bean '" + name + "', a service generated by gRPC's compiler,");
        try {
            return GrpcBeans.export(
                    beans.getBean(name),
                    text("group", annotation.group(), name),
                    text("version", annotation.version(), name),
                    annotation.weight());
        } catch (IllegalArgumentException e) {
            throw cannotExport(name, e);
        }
    }

    private ServiceExport export(String name, Class<?> type, ServiceKey key, int weight) {
        try {
            return ServiceExport.of(ServiceDescriptor.of(type), key, target(name), weight);
        } catch (IllegalArgumentException e) {
            throw cannotExport(name, e);
        }
    }

    private RpcStartException cannotExport(String name, IllegalArgumentException reason) {
        RpcStartException failure = new RpcStartException(
                "Bean '" + name + "' cannot be exported: " + reason.getMessage(),
                "Change the interface or the annotation as the description says, or let interfaces name others.",
                reason);
        return reason instanceof InvalidServiceException ? ServiceProblems.withAll(beans, failure) : failure;
    }

    private String text(String attribute, String annotated, String name) {
        Class<?> type = targetClass(beans, name);
        String place = "bean '" + name + "'" + (type == null ? "" : " of " + type.getName());
        return Placeholders.resolve(beans, annotated, "@RpcService(" + attribute + ") of " + place);
    }

    private Supplier<Object> target(String name) {
        return beans.isSingleton(name) ? new Singleton(beans, name) : () -> beans.getBean(name);
    }

    /** Looks up a bean once, when it is first called. Thread-safe. */
    private static final class Singleton implements Supplier<Object> {
        private final ConfigurableListableBeanFactory beans;
        private final String name;
        private volatile @Nullable Object bean;

        Singleton(ConfigurableListableBeanFactory beans, String name) {
            this.beans = beans;
            this.name = name;
        }

        @Override
        public Object get() {
            Object known = bean;
            if (known == null) {
                known = beans.getBean(name);
                if (isNull(known)) {
                    throw new IllegalStateException("the @Bean method of '" + name + "' returned null");
                }
                bean = known;
            }
            return known;
        }
    }
}
