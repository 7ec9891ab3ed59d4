package tern.rpc.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Token;

/**
 * The settings of a reference: the service, its providers, and the limits of its calls.
 *
 * @param source finds the providers; closed with the client
 * @param protocol the transport's protocol, such as {@code dubbo}
 * @param connections the number of dedicated connections to each endpoint, or 0 to share the connections of other
 *     references
 * @param defaults the settings of all methods that have no individual settings. The timeout in these settings does not
 *     apply to streaming methods
 * @param check whether {@link RpcClient#refer} fails if no provider can be reached
 * @param methods the settings by method name, for all overloads of the method
 * @param cluster the settings for choosing among the providers, or null for the client's settings
 * @param tls keys and trusted certificates for these providers, or null to use the transport's settings
 * @param token the token sent to these providers, or null for the client's token
 * @param fallback answers calls if no provider accepts them; may be null
 */
public record ServiceReference<T>(
        Class<T> type,
        ServiceKey key,
        EndpointSource source,
        String protocol,
        MethodSettings defaults,
        Map<String, MethodSettings> methods,
        int connections,
        boolean check,
        @Nullable ClusterSettings cluster,
        @Nullable Supplier<Tls> tls,
        @Nullable Token token,
        @Nullable Supplier<? extends T> fallback) {

    public ServiceReference {
        if (token != null) {
            check(token, "of " + key);
        }
        methods = Map.copyOf(methods);
        if (connections < 0) {
            throw new IllegalArgumentException(
                    "connections of " + key + " is " + connections + "; expected 0 to share, or 1 or more");
        }
    }

    static void check(Token token, String whose) {
        if (!token.isUsable()) {
            throw new IllegalArgumentException(
                    "the token " + whose + " is empty or contains characters other than visible ASCII");
        }
    }

    /** @param source finds the providers of the service */
    public static <T> Builder<T> to(Class<T> type, EndpointSource source) {
        return new Builder<>(type, source);
    }

    /** Collects the settings of a reference. Not thread-safe. */
    public static final class Builder<T> {

        private final Class<T> type;
        private final EndpointSource source;
        private final Map<String, MethodSettings> methods = new LinkedHashMap<>();
        private String group = "";
        private String version = "";
        private String protocol = "dubbo";
        private MethodSettings defaults = MethodSettings.NONE;
        private int connections;
        private boolean check;
        private @Nullable ClusterSettings cluster;
        private @Nullable Supplier<Tls> tls;
        private @Nullable Token token;
        private @Nullable Supplier<? extends T> fallback;

        private Builder(Class<T> type, EndpointSource source) {
            this.type = type;
            this.source = source;
        }

        /** Sets the group. The default is empty, which means no group. */
        public Builder<T> group(String group) {
            this.group = group;
            return this;
        }

        /** Sets the version. The default is empty, which means no version. */
        public Builder<T> version(String version) {
            this.version = version;
            return this;
        }

        /** Sets the protocol. The default is {@code dubbo}. */
        public Builder<T> protocol(String protocol) {
            this.protocol = protocol;
            return this;
        }

        /** Sets the timeout of all methods except streaming methods. The default is the client's timeout. */
        public Builder<T> timeout(Duration timeout) {
            return defaults(defaults.withTimeout(timeout));
        }

        /**
         * Configures every method of the service. Replaces all earlier settings of {@code defaults}, {@link #timeout}
         * and {@link #waitForReady}.
         */
        public Builder<T> defaults(MethodSettings settings) {
            this.defaults = settings;
            return this;
        }

        /** Configures all overloads of a method. For values that are null, the service's settings apply. */
        public Builder<T> method(String name, MethodSettings settings) {
            methods.put(name, settings);
            return this;
        }

        /**
         * Sets the number of dedicated connections to each endpoint.
         *
         * @param own the number, or 0 (the default) to share one connection with all other references
         */
        public Builder<T> connections(int own) {
            this.connections = own;
            return this;
        }

        /** Sets whether {@link RpcClient#refer} fails if no provider can be reached. The default is false. */
        public Builder<T> check(boolean reachable) {
            this.check = reachable;
            return this;
        }

        /** Sets how the reference chooses among the providers. The default is the client's setting. */
        public Builder<T> cluster(ClusterSettings cluster) {
            this.cluster = cluster;
            return this;
        }

        /**
         * If no provider is available, calls wait for one until their deadline. By default, they fail immediately.
         */
        public Builder<T> waitForReady() {
            return defaults(defaults.withWaitForReady(true));
        }

        /**
         * Sets the supplier of keys and trusted certificates for the providers of the reference. The supplier is called
         * for every new connection. Only references with the same supplier share connections. The default is the
         * transport's setting.
         */
        public Builder<T> tls(Supplier<Tls> tls) {
            this.tls = tls;
            return this;
        }

        /** Sets the token sent to the providers of the reference. The default is the client's token. */
        public Builder<T> token(Token newToken) {
            this.token = newToken;
            return this;
        }

        /**
         * Sets an object that answers calls on the client if no provider accepts them. The object answers calls that
         * fail with UNAVAILABLE, unless the method itself reported this failure. The object also answers calls that
         * fail with DEADLINE_EXCEEDED or RESOURCE_EXHAUSTED, if the method certainly did not run. Meters still count
         * the call as failed. Streams have no fallback. The fallback's methods run on the thread that would otherwise
         * have received the failure.
         */
        public Builder<T> fallback(T answering) {
            return fallbackFrom(() -> answering);
        }

        /** Sets a supplier of the fallback. The supplier is called for each call that needs the fallback. */
        public Builder<T> fallbackFrom(Supplier<? extends T> answering) {
            this.fallback = answering;
            return this;
        }

        /**
         * Builds the reference.
         *
         * @throws IllegalArgumentException if the interface or a setting is invalid. The group and the version must not
         *     be wildcards or lists, which only Dubbo supports
         */
        public ServiceReference<T> build() {
            checkOne("group", group);
            checkOne("version", version);
            ServiceKey key = new ServiceKey(ServiceDescriptor.of(type).name(), group, version);
            return new ServiceReference<>(
                    type, key, source, protocol, defaults, methods, connections, check, cluster, tls, token, fallback);
        }

        private void checkOne(String name, String value) {
            if (value.trim().equals("*") || value.indexOf(',') >= 0) {
                throw new IllegalArgumentException("the " + name + " '" + value + "' of the reference to "
                        + type.getName() + " stands for several " + name + "s, which only Dubbo supports; use one"
                        + " reference for each " + name);
            }
        }
    }
}
