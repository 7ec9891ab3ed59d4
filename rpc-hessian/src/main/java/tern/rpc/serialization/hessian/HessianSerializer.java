package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.WireName;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.Serializer;

/**
 * The Hessian 2 format as Dubbo uses it. Reads only four groups of classes: classes reachable from a service's
 * signatures, subclasses of these classes in the service's packages, JDK value types, and classes allowed in the
 * configuration. Thread-safe.
 */
public final class HessianSerializer implements Serializer {

    private static final String NAME = "hessian2";

    /** The packages whose exception classes are available to every caller. */
    private static final List<String> STANDARD_PACKAGES = List.of("java.", "javax.", "jakarta.");

    private final HessianLimits limits;
    private final ClassPatterns configured;
    private final boolean audit;
    private final boolean exceptionTexts;
    private final Map<Class<?>, String> wireNames;
    private final WireForms forms;
    private final Shapes shapes = new Shapes();
    private final KnownDefinitions known = new KnownDefinitions();
    private final Map<ServiceDescriptor, ServicePolicy> policies = new ConcurrentHashMap<>();

    /** The {@link Slot} of each parameter type and result type, for all services that have been prepared. */
    private final Map<ValueType, Slot> slots = new ConcurrentHashMap<>();

    private HessianSerializer(Builder builder) {
        this.limits = builder.limits;
        this.configured = new ClassPatterns(builder.allowed);
        this.audit = builder.audit;
        this.exceptionTexts = builder.exceptionTexts;
        this.wireNames = Map.copyOf(builder.wireNames);
        this.forms = new WireForms(wireNames, this::isOfAnyService);
    }

    public static Builder builder() {
        return new Builder();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        policies.computeIfAbsent(service, this::policyOf);
        service.methods().forEach(method -> {
            method.parameters().forEach(parameter -> slots.computeIfAbsent(parameter, HessianSerializer::slotOf));
            slots.computeIfAbsent(method.result(), HessianSerializer::slotOf);
        });
    }

    @Override
    public ObjectReader newReader() {
        return new HessianReader(limits, known, this::policy, this::slot);
    }

    @Override
    public ObjectWriter newWriter() {
        return new HessianWriter(forms, this::isForeign);
    }

    private ServicePolicy policyOf(ServiceDescriptor service) {
        Map<String, Class<?>> aliases = new HashMap<>();
        for (MethodDescriptor method : service.methods()) {
            for (Class<?> exception : method.exceptions()) {
                WireName name = exception.getDeclaredAnnotation(WireName.class);
                if (name != null) {
                    aliases.put(name.value(), exception);
                }
            }
        }
        wireNames.forEach((type, name) -> aliases.put(name, type));
        return new ServicePolicy(service, configured, aliases, audit, shapes);
    }

    private ServicePolicy policy(ServiceDescriptor service) {
        ServicePolicy policy = policies.get(service);
        if (policy == null) {
            throw new IllegalStateException(service.name() + " was not prepared");
        }
        return policy;
    }

    /** Returns whether an exception class is unknown to callers. If so, the exception's message is not sent. */
    private boolean isForeign(Class<?> type) {
        return !exceptionTexts
                && !RpcException.class.isAssignableFrom(type)
                && STANDARD_PACKAGES.stream().noneMatch(type.getName()::startsWith)
                && policies.values().stream().noneMatch(policy -> policy.isKnownException(type));
    }

    private boolean isOfAnyService(Class<?> type) {
        return policies.values().stream().anyMatch(policy -> policy.isOfService(type));
    }

    private Slot slot(ValueType type) {
        Slot known = slots.get(type);
        return known != null ? known : slotOf(type);
    }

    private static Slot slotOf(ValueType type) {
        return Slot.of(type.generic());
    }

    /** Builds a serializer. Not thread-safe. */
    public static final class Builder {

        private final List<String> allowed = new ArrayList<>();
        private final Map<Class<?>, String> wireNames = new HashMap<>();
        private HessianLimits limits = HessianLimits.defaults();
        private boolean audit;
        private boolean exceptionTexts;

        private Builder() {}

        /**
         * Allows additional classes. Each class is allowed at every position whose declared type is the class itself or
         * one of its supertypes.
         *
         * @param entries class names, or package names that end in {@code .*} (the package's classes) or {@code .**}
         *     (the classes of the package and of all its subpackages)
         */
        public Builder allow(String... entries) {
            allowed.addAll(List.of(entries));
            return this;
        }

        /**
         * Makes the serializer also read serializable application classes that are not allowed. For each such class,
         * the serializer logs once which property would allow the class. Use this mode only for a trial period, because
         * the serializer then accepts unexpected classes.
         */
        public Builder audit() {
            this.audit = true;
            return this;
        }

        /**
         * Sets whether an exception keeps the messages of its causes when it is sent, even if the classes of these
         * causes are unknown to callers. Exception messages can contain SQL or other internals. The default is false:
         * callers get the class name and an id, and the cause is logged with this id.
         */
        public Builder exceptionTexts(boolean sent) {
            this.exceptionTexts = sent;
            return this;
        }

        /** Sets the limits for reading. The default is {@link HessianLimits#defaults()}. */
        public Builder limits(HessianLimits limits) {
            this.limits = limits;
            return this;
        }

        /** Writes and reads an exception class under a different class name. */
        public Builder alias(Class<? extends Throwable> type, String wireName) {
            wireNames.put(type, wireName);
            return this;
        }

        /**
         * Builds the serializer.
         *
         * @throws IllegalArgumentException if an entry for allowed classes is neither a class name nor a package name;
         *     the message contains the entry
         */
        public HessianSerializer build() {
            return new HessianSerializer(this);
        }
    }
}
