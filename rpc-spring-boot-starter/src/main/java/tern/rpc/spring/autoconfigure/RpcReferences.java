package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import tern.rpc.InvalidServiceException;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.client.UnknownProtocolException;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Rules;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/**
 * The injected proxies, one for each combination of settings. The client is created together with the first proxy.
 * Thread-safe.
 */
public final class RpcReferences implements SmartInitializingSingleton, ServiceProblems.Protocols {

    private static final Logger LOG = LoggerFactory.getLogger(RpcReferences.class);

    /** The maximum wait for the connection of one reference to the application's own server. */
    private static final Duration OWN_SERVER_WAIT = Duration.ofSeconds(1);

    private final RpcClientProperties properties;
    private final ClientSettings settings;
    private final ObjectProvider<RpcClient> client;
    private final Registries registries;
    private final ConfigurableBeanFactory beans;
    private final boolean initializesLazily;
    private final OwnServer ownServer;
    private final UsedSettings used;
    private final Map<ReferenceSettings, Object> proxies = new LinkedHashMap<>(); // guarded by this

    // the proxies that a thread is creating; guarded by this
    private final Map<ReferenceSettings, CompletableFuture<Object>> creating = new HashMap<>();
    private final Map<ReferenceSettings, Origin> origins = new LinkedHashMap<>(); // guarded by this
    // the references whose changed addresses have been reported in the log; guarded by this
    private final Set<ReferenceSettings> otherAddresses = new HashSet<>();
    // the settings with the changed properties; null until a property changes; guarded by this
    private @Nullable ClientSettings current;

    /** The injection point where the settings were first used. */
    private record Origin(Class<?> type, RpcReference annotation, String where) {}

    RpcReferences(
            Environment environment,
            RpcClientProperties properties,
            ClientSettings settings,
            ObjectProvider<RpcClient> client,
            Registries registries,
            ConfigurableBeanFactory beans,
            boolean initializesLazily) {
        this.properties = properties;
        this.settings = settings;
        this.client = client;
        this.registries = registries;
        this.beans = beans;
        this.initializesLazily = initializesLazily;
        this.ownServer = new OwnServer((ConfigurableListableBeanFactory) beans);
        this.used = new UsedSettings(environment, properties);
    }

    /** Returns the client that the proxies use, or null if there are no proxies. */
    public @Nullable RpcClient client() {
        synchronized (this) {
            if (proxies.isEmpty()) {
                return null;
            }
        }
        return client.getObject();
    }

    /** @param where the injection point, for error messages */
    Object proxy(Class<?> type, RpcReference annotation, String where) {
        ReferencedType.check(type, where);
        checkSignatures(type, annotation, where);
        ReferenceSettings wanted = settings.reference(type, annotation, placeholders(annotation, where), where);
        if (wanted.isLocal()) {
            LocalCalls.checkServer(beans, where);
        }
        OptionalModules.checkProtocol(wanted.protocol(), where);
        String name = ClientSettings.nameOf(type, annotation, placeholders(annotation, where));
        // The client is created without holding the lock of RpcReferences, because the bean factory acquires its own
        // locks.
        RpcClient made = client(type, where);
        Map.Entry<String, RpcClientProperties.Service> configured = settings.configured(name);
        Object known = register(wanted, configured, where);
        if (known != null) {
            return known;
        }
        // The beans are looked up before the creation of the proxy begins. During the creation, other threads may wait
        // for the proxy while they hold the bean factory's locks, so a lookup could cause a deadlock.
        ServiceReference<?> reference = explained(
                wanted,
                where,
                () -> wanted.referenceFor(
                        new OwnServerSource(wanted.source(made, registries), () -> ownServer.advice(wanted)),
                        this::balancer,
                        FallbackBeans.of(beans, wanted.key())));
        return create(
                wanted,
                new Origin(type, annotation, where),
                () -> explained(wanted, where, () -> {
                    try {
                        return made.refer(reference);
                    } catch (UnknownProtocolException e) {
                        RpcStartException explained = ProtocolOrigin.explained(
                                e, configured, annotation, placeholders(annotation, where), where, properties.url());
                        throw explained != null ? explained : e;
                    }
                }));
    }

    /** Records that the reference is used. Returns its proxy, or null if the proxy does not exist yet. */
    private synchronized @Nullable Object register(
            ReferenceSettings wanted, Map.Entry<String, RpcClientProperties.Service> configured, String where) {
        used.add(configured.getKey(), wanted);
        Object proxy = proxies.get(wanted);
        if (proxy == null) {
            explained(wanted, where, () -> {
                used.checkMethods(wanted.type(), configured);
                return wanted;
            });
        }
        return proxy;
    }

    /**
     * Creates a proxy, or waits until another thread has created it. The lock is not held during the creation, because
     * the creation can wait several seconds for a provider.
     */
    private Object create(ReferenceSettings wanted, Origin origin, Supplier<Object> creation) {
        CompletableFuture<Object> own = new CompletableFuture<>();
        CompletableFuture<Object> other;
        synchronized (this) {
            Object proxy = proxies.get(wanted);
            if (proxy != null) {
                return proxy;
            }
            other = creating.putIfAbsent(wanted, own);
        }
        if (other != null) {
            return awaited(other);
        }
        Object proxy;
        try {
            proxy = creation.get();
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                creating.remove(wanted);
            }
            own.completeExceptionally(e);
            throw e;
        }
        ClientSettings changed;
        synchronized (this) {
            creating.remove(wanted);
            proxies.put(wanted, proxy);
            origins.put(wanted, origin);
            changed = current;
        }
        if (changed != null) {
            applyTo(wanted, origin, proxy, changed);
        }
        own.complete(proxy);
        return proxy;
    }

    /** Applies changed properties to a new proxy, because the properties changed before its reference was created. */
    private void applyTo(ReferenceSettings created, Origin origin, Object proxy, ClientSettings changed) {
        try {
            client.getObject().rule(proxy, rules(created, origin, changed));
        } catch (RuntimeException e) { // All exceptions are caught, because validation throws many types of exceptions.
            LOG.warn("Changed properties below rpc.client are not applied to {}", created.key(), e);
        }
    }

    private static Object awaited(CompletableFuture<Object> proxy) {
        try {
            return proxy.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RpcStartException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /**
     * Returns the client for a reference. If the client is still being created, its creation depends on the bean that
     * contains the reference. Spring would report only a circular reference and give no advice.
     */
    private RpcClient client(Class<?> type, String where) {
        try {
            return client.getObject();
        } catch (BeanCreationException e) {
            RpcStartException explained =
                    NeededByClient.explained(e, (ConfigurableListableBeanFactory) beans, type, where);
            throw explained == null ? e : explained;
        }
    }

    /**
     * Applies changed timeouts, load balancing and address weights to all references, including references that are
     * created later. Connections stay open. If a value is invalid, logs a warning and changes nothing.
     */
    void change(Environment environment) {
        try {
            ClientSettings changed = ChangeableSettings.in(environment).appliedTo(settings);
            Map<Object, Rules> rules = new IdentityHashMap<>();
            synchronized (this) {
                origins.forEach((before, origin) ->
                        rules.put(Objects.requireNonNull(proxies.get(before)), rules(before, origin, changed)));
                current = changed;
            }
            rules.forEach((proxy, changes) -> client.getObject().rule(proxy, changes));
        } catch (RuntimeException e) { // binding and validation can throw many types of exceptions
            LOG.warn("Changed properties below rpc.client are not applied", e);
        }
    }

    /** Returns the rules that give a reference its changed settings. */
    private Rules rules(ReferenceSettings before, Origin origin, ClientSettings changed) {
        ReferenceSettings now = changed.reference(
                origin.type(), origin.annotation(), placeholders(origin.annotation(), origin.where()), origin.where());
        if (ChangedSettings.haveOtherAddresses(before, now) && isNewlyMoved(before)) {
            LOG.warn(
                    "The addresses of {} have changed. Only their weights change while the application"
                            + " runs; other addresses take effect after a restart",
                    before.key());
        }
        return ChangedSettings.of(before, settings.timeout(), now, changed.timeout());
    }

    private synchronized boolean isNewlyMoved(ReferenceSettings reference) {
        return otherAddresses.add(reference);
    }

    /**
     * Connects the references that name the application's own server, which has just started. Their first connection
     * attempts failed because the server was not listening yet. Without this step, a runner that calls immediately
     * would find no connection.
     */
    void connectToOwnServer() {
        Map<ReferenceSettings, Object> known;
        synchronized (this) {
            known = new LinkedHashMap<>(proxies);
        }
        for (Map.Entry<ReferenceSettings, Object> reference : known.entrySet()) {
            if (!ownServer.address(reference.getKey()).isEmpty()
                    && !client.getObject().connect(reference.getValue(), OWN_SERVER_WAIT)) {
                // If a reference cannot connect, the remaining references are not tried, so that the startup waits only
                // once.
                return;
            }
        }
    }

    /**
     * Warns about references that name {@code local}, but whose service the application's own server does not export.
     * Each of their calls fails, because no other provider is asked.
     */
    synchronized void checkLocal(List<ServiceExport> exports) {
        List<String> missing = proxies.keySet().stream()
                .filter(ReferenceSettings::isLocal)
                .map(ReferenceSettings::key)
                .filter(key -> exports.stream().noneMatch(export -> export.key().equals(key)))
                .map(ServiceKey::toString)
                .toList();
        if (!missing.isEmpty()) {
            LOG.warn(
                    "Calls to local will fail, because this application does not export {}; it exports {}. Correct the"
                            + " group or version of the reference, or add the provider to the application",
                    StartLine.names(missing),
                    StartLine.names(BuiltInService.others(exports)));
        }
    }

    /**
     * Records that a local bean was injected instead of a reference's proxy. The reference's settings then count as
     * used.
     */
    void overridden(Class<?> type, RpcReference annotation, String where) {
        UnaryOperator<String> placeholders = placeholders(annotation, where);
        String name = ClientSettings.nameOf(type, annotation, placeholders);
        used.add(settings.configured(name).getKey(), settings.key(type, annotation, placeholders));
    }

    /** Replaces placeholders in the attributes of an annotation. */
    private UnaryOperator<String> placeholders(RpcReference annotation, String where) {
        return text -> {
            if (Addresses.namesOwnPort(text) && !LocalCalls.portIsKnown(beans)) {
                throw Addresses.ownPortIsNotKnown("@RpcReference(url)");
            }
            return Placeholders.resolve(beans, text, attribute(annotation, text) + " at " + where)
                    .trim();
        };
    }

    /**
     * Returns the place of a text with placeholders, for error messages: the first attribute of {@code @RpcReference}
     * whose value is the text. If no attribute has this value, the text can only be the timeout that the interface
     * declares for a method.
     */
    private static String attribute(RpcReference annotation, String text) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("url", annotation.url());
        attributes.put("group", annotation.group());
        attributes.put("version", annotation.version());
        attributes.put("timeout", annotation.timeout());
        attributes.put("protocol", annotation.protocol());
        attributes.put("name", annotation.name());
        return attributes.entrySet().stream()
                .filter(attribute -> attribute.getValue().equals(text))
                .map(attribute -> "@RpcReference(" + attribute.getKey() + ")")
                .findFirst()
                .orElse("@RpcMethod(timeout) of the interface");
    }

    private Balancer.@Nullable Factory balancer(String name) {
        return beans.containsBean(name) && beans.isTypeMatch(name, Balancer.Factory.class)
                ? beans.getBean(name, Balancer.Factory.class)
                : null;
    }

    /**
     * Fails with an explanation if a method of the interface cannot be called. The methods are also checked when the
     * settings are evaluated, but the error of that check cannot name the reference.
     */
    private void checkSignatures(Class<?> type, RpcReference annotation, String where) {
        try {
            ServiceDescriptor.of(type);
        } catch (IllegalArgumentException e) {
            throw cannotRefer(where, settings.key(type, annotation, placeholders(annotation, where)), e);
        }
    }

    private RpcStartException cannotRefer(String where, ServiceKey key, IllegalArgumentException reason) {
        RpcStartException failure = new RpcStartException(
                where + " cannot refer to " + key + ": " + reason.getMessage(),
                "Change the interface or the settings as the description says.",
                reason);
        return reason instanceof InvalidServiceException
                ? ServiceProblems.withAll((ConfigurableListableBeanFactory) beans, failure)
                : failure;
    }

    @Override
    public boolean sendsJson(ReferencedServices.Reference reference) {
        String where = "a reference to " + reference.service().getName();
        try {
            return settings.reference(
                            reference.service(),
                            reference.annotation(),
                            placeholders(reference.annotation(), where),
                            where)
                    .protocol()
                    .equals("http");
        } catch (RuntimeException e) {
            LOG.debug("Settings of {} are checked when its bean is created", where, e);
            return false;
        }
    }

    /** Runs a step of creating a reference. If the step fails, the exception names the injection point. */
    private <T> T explained(ReferenceSettings wanted, String where, Supplier<T> step) {
        try {
            return step.get();
        } catch (IllegalArgumentException e) {
            throw cannotRefer(where, wanted.key(), e);
        } catch (RpcException e) {
            throw new RpcStartException(
                    where + " asks for a check at start: " + e.status().description(),
                    "Start a provider first, or remove check=true.",
                    e);
        }
    }

    /**
     * Records a reference in a bean that is created later. A mistake in the reference is reported when the bean is
     * created.
     */
    private void expect(ReferencedServices.Reference awaited) {
        Class<?> type = awaited.service();
        RpcReference annotation = awaited.annotation();
        String where = "a reference to " + type.getName();
        try {
            UnaryOperator<String> placeholders = placeholders(annotation, where);
            Map.Entry<String, RpcClientProperties.Service> configured =
                    settings.configured(ClientSettings.nameOf(type, annotation, placeholders));
            used.add(configured.getKey(), settings.key(type, annotation, placeholders));
            used.checkMethods(type, configured);
            used.add(configured.getKey(), settings.reference(type, annotation, placeholders, where));
        } catch (RuntimeException e) {
            LOG.debug("Settings of {} are checked when its bean is created", where, e);
        }
    }

    /**
     * Warns about settings and fallbacks that no reference uses, for example because of a mistyped name or a different
     * group. References in beans that are created later also count as uses.
     */
    @Override
    public void afterSingletonsInstantiated() {
        // This statement throws an exception if a property names an unknown load balancer.
        settings.choices().forEach(choice -> choice.settings(this::balancer));
        ConfigurableListableBeanFactory all = (ConfigurableListableBeanFactory) beans;
        AwaitedReferences awaited = AwaitedReferences.in(all);
        awaited.known().forEach(this::expect);
        used.complete();
        sayKnown();
        used.logUnused(all, awaited);
        UnusedSettings.log(unusedAttributes());
        WebMappings.logReferences(types().stream());
    }

    private synchronized List<Class<?>> types() {
        return origins.keySet().stream().<Class<?>>map(ReferenceSettings::type).toList();
    }

    private synchronized List<String> unusedAttributes() {
        return origins.entrySet().stream()
                .flatMap(made ->
                        UnusedAttributes.of(
                                made.getKey(),
                                made.getValue().annotation(),
                                made.getValue().where())
                                .stream())
                .toList();
    }

    private synchronized void sayKnown() {
        if (!proxies.isEmpty() && !initializesLazily) {
            LOG.info(
                    "{}: {}",
                    StartLine.count(proxies.size(), "reference"),
                    StartLine.names(proxies.keySet().stream()
                            .map(ReferenceSettings::describe)
                            .toList()));
        }
    }
}
