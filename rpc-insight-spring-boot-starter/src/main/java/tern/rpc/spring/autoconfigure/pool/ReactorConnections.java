package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientConfig;
import reactor.netty.resources.ConnectionProvider;

/**
 * Finds the connection pools of WebClients that use Reactor Netty. A Reactor Netty provider limits the connections to
 * each host separately, so each host has a separate pool. The provider is read from the client, because several clients
 * can share a provider, and because a provider is often created within the code that creates the client. Thread-safe.
 */
final class ReactorConnections {

    private static final Logger LOG = LoggerFactory.getLogger(ReactorConnections.class);

    private static final String CLIENT = "reactor.netty.http.client.HttpClient";

    /** The name of Reactor Netty's default provider, which all clients without their own provider share. */
    private static final String SHARED = "http";

    /** The maximum number of pools. The number is limited, because an application can call any number of hosts. */
    private static final int MAX_POOLS = 32;

    private static final int MAX_FILTERS = 16;

    private final ObjectProvider<PoolSources> sources;

    /** The provider of each client; empty if the client has none, or if its exchanges share connections. */
    private final Map<ExchangeFunction, Optional<ConnectionProvider>> providers =
            new ConcurrentReferenceHashMap<>(16, ConcurrentReferenceHashMap.ReferenceType.WEAK);

    private final Map<Key, ReactorPool> pools = new ConcurrentHashMap<>();

    private record Key(ConnectionProvider provider, String host) {}

    ReactorConnections(ObjectProvider<PoolSources> sources) {
        this.sources = sources;
    }

    static boolean isPresent() {
        return ClassUtils.isPresent(CLIENT, ReactorConnections.class.getClassLoader());
    }

    /** Returns the pool for an exchange with the given address; null if it is unknown. */
    @Nullable
    ReactorPool of(ExchangeFunction client, URI address) {
        ConnectionProvider provider = providers
                .computeIfAbsent(innermost(client), ReactorConnections::providerOf)
                .orElse(null);
        if (provider == null || address.getHost() == null) {
            return null;
        }
        String host = HttpName.host(address);
        Key key = new Key(provider, host);
        ReactorPool known = pools.get(key);
        int max = known == null ? maxOf(provider, host) : 0;
        return max > 0 && pools.size() < MAX_POOLS ? added(key, max) : known;
    }

    /** The map must not be locked while the pool becomes a bean, because Spring might be creating another bean. */
    private ReactorPool added(Key key, int max) {
        String provider = key.provider.name();
        String suffix = provider == null || provider.equals(SHARED) ? "" : "-" + provider;
        String name = sources.getObject().nameFor(SHARED + suffix + " " + key.host);
        ReactorPool pool = new ReactorPool(name, max);
        ReactorPool before = pools.putIfAbsent(key, pool);
        if (before != null) {
            return before;
        }
        sources.getObject().add(name, pool::snapshot);
        return pool;
    }

    /**
     * Returns the exchange function that uses the client's connector. Each filter is applied by a lambda that holds the
     * next function in a field.
     */
    private static ExchangeFunction innermost(ExchangeFunction client) {
        ExchangeFunction function = client;
        for (int depth = 0; depth < MAX_FILTERS; depth++) {
            ExchangeFunction inner = innerOf(function);
            if (inner == null) {
                return function;
            }
            function = inner;
        }
        return function;
    }

    private static @Nullable ExchangeFunction innerOf(ExchangeFunction function) {
        try {
            // Spring creates new lambdas for the filters of each exchange. The lookup of the field is fast
            // nevertheless, because ReflectionUtils caches the fields of the lambdas' classes.
            Field field = ReflectionUtils.findField(function.getClass(), null, ExchangeFunction.class);
            return field == null ? null : (ExchangeFunction) valueOf(function, field);
        } catch (RuntimeException | LinkageError e) {
            LOG.trace("The filters of {} are not searched", function, e);
            return null;
        }
    }

    private static int maxOf(ConnectionProvider provider, String host) {
        Map<SocketAddress, Integer> perHost = provider.maxConnectionsPerHost();
        if (perHost == null) {
            return provider.maxConnections();
        }
        return perHost.entrySet().stream()
                .filter(entry -> entry.getKey() instanceof InetSocketAddress address
                        && host.equals(address.getHostString() + ":" + address.getPort()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseGet(provider::maxConnections);
    }

    /**
     * Returns the provider of a client. With HTTP/2, several exchanges share a connection, so the number of connections
     * does not limit the exchanges.
     */
    private static Optional<ConnectionProvider> providerOf(ExchangeFunction client) {
        try {
            Object connector = valueOf(client, "connector");
            Object http = connector instanceof ReactorClientHttpConnector ? valueOf(connector, "httpClient") : null;
            if (!(http instanceof HttpClient known)) {
                return Optional.empty();
            }
            HttpClientConfig settings = known.configuration();
            boolean isExclusive = Arrays.stream(settings.protocols()).allMatch(HttpProtocol.HTTP11::equals);
            return isExclusive ? Optional.ofNullable(settings.connectionProvider()) : Optional.empty();
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("The connections of {} are not measured", client, e);
            return Optional.empty();
        }
    }

    private static @Nullable Object valueOf(Object owner, String name) {
        Field field = ReflectionUtils.findField(owner.getClass(), name);
        return field == null ? null : valueOf(owner, field);
    }

    private static @Nullable Object valueOf(Object owner, Field field) {
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, owner);
    }
}
