package tern.rpc.spring.autoconfigure;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import tern.rpc.spring.RpcService;

/**
 * Warns about services in an application in which Tern's auto-configuration is not active. Spring creates the beans of
 * these services, but nothing exports them. Without this warning, the application would start without a hint that its
 * services are not exported. Does nothing in tests, because a test often contains only some beans of an application.
 */
final class InactiveServices implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger LOG = LoggerFactory.getLogger(InactiveServices.class);

    /** The property that Spring Boot sets in test contexts. */
    private static final String IN_TEST = "org.springframework.boot.test.context.SpringBootTestContextBootstrapper";

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        ConfigurableApplicationContext context = event.getApplicationContext();
        if (isActive(context) || context.getEnvironment().getProperty(IN_TEST, Boolean.class, false)) {
            return;
        }
        List<String> services = List.of(context.getBeanNamesForAnnotation(RpcService.class));
        if (!services.isEmpty()) {
            LOG.warn(
                    "Beans with @RpcService are not exported, because Tern's auto-configuration is not active: {}. Put"
                            + " @SpringBootApplication or @EnableAutoConfiguration on the main class, and remove an"
                            + " exclusion of Tern's auto-configuration. If a build tool has packed several jars into"
                            + " one, keep the files below META-INF/spring of all of them",
                    StartLine.names(services));
        }
    }

    private static boolean isActive(ConfigurableApplicationContext context) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, UnknownPropertyCheck.class, false, false)
                        .length
                > 0;
    }
}
