package tern.rpc.spring.autoconfigure.pool;

import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Measures Spring Data Redis commands by wrapping every connection factory in a subclass. Only commands are measured,
 * because the call that gets a connection from the factory never blocks: Lettuce shares one connection, and Jedis
 * borrows a connection only when a command runs.
 */
final class RedisWatch implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof RedisConnectionFactory factory) || NativeDetector.inNativeImage()) {
            return bean;
        }
        ProxyFactory proxy = new ProxyFactory(factory);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) invocation -> {
            Object result = invocation.proceed();
            return result instanceof RedisConnection connection
                            && invocation.getMethod().getName().equals("getConnection")
                    ? WatchedRedis.of(connection)
                    : result;
        });
        return proxy.getProxy(factory.getClass().getClassLoader());
    }
}
