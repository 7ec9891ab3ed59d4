package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Modifier;
import java.sql.Connection;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import tern.rpc.pool.StoreNames;

/** Replaces a data source with an instance of a subclass that measures its connections. */
final class WatchedDataSource {

    private WatchedDataSource() {}

    /** Returns whether the data source can be replaced with an instance of a subclass. */
    static boolean isPossible(DataSource source) {
        int modifiers = source.getClass().getModifiers();
        return Modifier.isPublic(modifiers) && !Modifier.isFinal(modifiers) && !AopUtils.isAopProxy(source);
    }

    static DataSource of(StoreNames.Store store, DataSource source, Borrowings borrowings) {
        ProxyFactory factory = new ProxyFactory(source);
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodInterceptor) invocation -> {
            if (!invocation.getMethod().getName().equals("getConnection")) {
                return invocation.proceed();
            }
            return WatchedConnection.take(store, borrowings, () -> (Connection) invocation.proceed());
        });
        return (DataSource) factory.getProxy(source.getClass().getClassLoader());
    }
}
