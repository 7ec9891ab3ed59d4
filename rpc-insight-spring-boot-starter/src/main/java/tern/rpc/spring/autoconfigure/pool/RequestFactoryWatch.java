package tern.rpc.spring.autoconfigure.pool;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;

/**
 * Measures all clients whose request factory comes from Boot's builder: clients from Boot's RestClient.Builder and
 * RestTemplateBuilder, and clients that implement HTTP interfaces. A builder that the application defines itself is not
 * replaced.
 */
final class RequestFactoryWatch implements BeanPostProcessor {

    private final ObjectProvider<ConfigurableListableBeanFactory> beans;

    RequestFactoryWatch(ObjectProvider<ConfigurableListableBeanFactory> beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        return bean instanceof ClientHttpRequestFactoryBuilder<?> builder
                        && !(builder instanceof WatchedRequestFactoryBuilder)
                        && isMadeByBoot(beanName)
                ? new WatchedRequestFactoryBuilder<>(builder)
                : bean;
    }

    private boolean isMadeByBoot(String beanName) {
        ConfigurableListableBeanFactory factory = beans.getObject();
        if (!factory.containsBeanDefinition(beanName)) {
            return false;
        }
        BeanDefinition definition = factory.getBeanDefinition(beanName);
        String maker = definition.getFactoryBeanName();
        return maker != null && maker.startsWith("org.springframework.boot.");
    }
}
