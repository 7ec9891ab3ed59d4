package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.http.client.HttpClientSettings;

/** Sets the connect and read timeouts in Boot's HTTP client settings, unless the application sets them. */
final class HttpTimeouts implements BeanPostProcessor {

    private static final String PREFIX = "spring.http.clients";

    static final Duration CONNECT = Duration.ofSeconds(1);
    static final Duration READ = Duration.ofSeconds(5);

    private final ObjectProvider<ConfigurableListableBeanFactory> beans;

    HttpTimeouts(ObjectProvider<ConfigurableListableBeanFactory> beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof HttpClientSettings settings) || !isMadeByBoot(beanName)) {
            return bean;
        }
        TunedTimeouts tuned = new TunedTimeouts();
        if (settings.connectTimeout() == null) {
            tuned.add(PREFIX + ".connect-timeout", CONNECT);
        }
        if (settings.readTimeout() == null) {
            tuned.add(PREFIX + ".read-timeout", READ);
        }
        tuned.log("HTTP clients of Spring Boot");
        return settings.withTimeouts(
                settings.connectTimeout() == null ? CONNECT : settings.connectTimeout(),
                settings.readTimeout() == null ? READ : settings.readTimeout());
    }

    private boolean isMadeByBoot(String beanName) {
        ConfigurableListableBeanFactory factory = beans.getObject();
        if (!factory.containsBeanDefinition(beanName)) {
            return false;
        }
        String maker = factory.getBeanDefinition(beanName).getFactoryBeanName();
        return maker != null && maker.startsWith("org.springframework.boot.");
    }
}
