package tern.rpc.spring.autoconfigure.pool;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.PoolMetrics;
import io.r2dbc.spi.Connection;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import reactor.core.publisher.Mono;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.StoreNames;

/**
 * Measures every R2DBC pool by wrapping it in a subclass. No thread is blocked while it waits for a connection of such
 * a pool, so the wait is visible only in a call's reactive chain.
 */
final class R2dbcWatch implements BeanPostProcessor {

    /** The name of the connection factory that Boot creates. */
    private static final String OF_BOOT = "connectionFactory";

    private final ObjectProvider<PoolSources> sources;

    R2dbcWatch(ObjectProvider<PoolSources> sources) {
        this.sources = sources;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof ConnectionPool pool) || NativeDetector.inNativeImage()) {
            return bean;
        }
        Borrowings borrowings = new Borrowings();
        String name = sources.getObject().nameFor(OF_BOOT.equals(beanName) ? "r2dbc" : beanName);
        sources.getObject().add(name, () -> snapshot(name, pool, borrowings));
        StoreNames.Store store = sources.getObject().databases().add(name);
        WatchedR2dbc watched = new WatchedR2dbc(name, store, borrowings);
        ProxyFactory proxy = new ProxyFactory(pool);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) invocation -> {
            Object result = invocation.proceed();
            return result instanceof Mono<?> taken
                            && invocation.getMethod().getName().equals("create")
                    ? watched.taken(taken.cast(Connection.class))
                    : result;
        });
        return proxy.getProxy(pool.getClass().getClassLoader());
    }

    private static PoolSnapshot snapshot(String name, ConnectionPool pool, Borrowings borrowings) {
        PoolMetrics metrics = pool.getMetrics().orElse(null);
        int max = metrics == null ? Integer.MAX_VALUE : metrics.getMaxAllocatedSize();
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.JDBC, max))
                .now(
                        metrics == null ? 0 : metrics.acquiredSize(),
                        metrics == null ? 0 : metrics.idleSize(),
                        borrowings.waiting())
                .settings(List.of())
                .build();
    }
}
