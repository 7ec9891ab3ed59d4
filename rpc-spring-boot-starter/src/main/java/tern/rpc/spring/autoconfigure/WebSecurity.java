package tern.rpc.spring.autoconfigure;

import java.util.List;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Detects protection of the web server, such as Spring Security's filter chains, which does not apply to the RPC
 * server.
 */
final class WebSecurity {

    /** The types of filter chains in servlet applications and in reactive applications. */
    private static final List<String> CHAINS = List.of(
            "org.springframework.security.web.SecurityFilterChain",
            "org.springframework.security.web.server.SecurityWebFilterChain");

    /** The properties of the web server that name its certificate. */
    private static final List<String> CERTIFICATES =
            List.of("server.ssl.bundle", "server.ssl.key-store", "server.ssl.certificate");

    private WebSecurity() {}

    /** Returns whether the application has a filter chain. Does not create the filter chain. */
    static boolean isIn(ConfigurableListableBeanFactory beans) {
        ClassLoader loader = beans.getBeanClassLoader();
        return CHAINS.stream()
                .filter(chain -> ClassUtils.isPresent(chain, loader))
                .map(chain -> ClassUtils.resolveClassName(chain, loader))
                .anyMatch(chain ->
                        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, chain, true, false).length > 0);
    }

    /** Returns whether properties enable TLS for the web server. */
    static boolean hasTls(Environment environment) {
        return CERTIFICATES.stream().anyMatch(environment::containsProperty) && isEnabled(environment);
    }

    private static boolean isEnabled(Environment environment) {
        try {
            return environment.getProperty("server.ssl.enabled", Boolean.class, true);
        } catch (RuntimeException e) {
            // The property contains a placeholder without a value, or is not a boolean. This is ignored, because only a
            // web server needs the property.
            return false;
        }
    }
}
