package tern.rpc.spring.autoconfigure.pool;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/** Pools of threads follow the properties that hold when the application starts, not those that held at build time. */
final class BusinessPoolAotFilter implements BeanRegistrationExcludeFilter {

    @Override
    public boolean isExcludedFromAotProcessing(RegisteredBean bean) {
        return bean.getBeanClass() == BusinessPool.class;
    }
}
