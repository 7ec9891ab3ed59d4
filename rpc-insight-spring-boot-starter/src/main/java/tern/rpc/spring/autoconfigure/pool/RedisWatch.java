package tern.rpc.spring.autoconfigure.pool;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import tern.rpc.pool.StoreNames;

/**
 * Measures the commands of Spring Data Redis, also in reactive chains. Each connection factory is replaced with an
 * instance of a subclass, which measures only commands. Getting a connection from the factory never blocks: Lettuce
 * shares one connection, and Jedis borrows a connection only when a command runs.
 */
final class RedisWatch implements BeanPostProcessor {

    private static final String DEFAULT_SERVER = "localhost:6379";

    private final ObjectProvider<PoolSources> sources;

    RedisWatch(ObjectProvider<PoolSources> sources) {
        this.sources = sources;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof RedisConnectionFactory factory) || NativeDetector.inNativeImage()) {
            return bean;
        }
        StoreNames.Store store = sources.getObject().redis().add(beanName).server(server(factory));
        ProxyFactory proxy = new ProxyFactory(factory);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) invocation -> {
            Object result = invocation.proceed();
            if (result != null && invocation.getMethod().getName().equals("getReactiveConnection")) {
                return WatchedReactiveRedis.of(store, result);
            }
            return result instanceof RedisConnection connection
                            && invocation.getMethod().getName().equals("getConnection")
                    ? WatchedRedis.of(store, connection)
                    : result;
        });
        return proxy.getProxy(factory.getClass().getClassLoader());
    }

    /**
     * Returns the address of the only server of the given client; null if the client has several servers or if the
     * address is unknown.
     */
    static @Nullable String server(RedisConnectionFactory factory) {
        if (!(factory instanceof LettuceConnectionFactory lettuce)
                || lettuce.getClusterConfiguration() != null
                || lettuce.getSentinelConfiguration() != null
                || lettuce.getSocketConfiguration() != null) {
            return null;
        }
        String server = lettuce.getHostName() + ":" + lettuce.getPort();
        // A client that is configured with a fixed primary and replicas returns the default address instead of its own.
        // The default address is therefore treated as unknown.
        return server.equals(DEFAULT_SERVER) ? null : server;
    }
}
