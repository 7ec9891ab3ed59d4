package tern.rpc.spring.autoconfigure.pool;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Excludes thread pools from ahead-of-time processing. The pools depend on the properties at startup and not on the
 * properties at build time.
 */
final class BusinessPoolAotFilter implements BeanRegistrationExcludeFilter {

    @Override
    public boolean isExcludedFromAotProcessing(RegisteredBean bean) {
        return bean.getBeanClass() == BusinessPool.class;
    }
}
