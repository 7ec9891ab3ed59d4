package tern.rpc.spring.autoconfigure;

import java.util.List;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Finds the filter chains of Spring Security. The filter chains protect the web server, but not the RPC server. */
final class WebSecurity {

    /** The types of filter chains in servlet applications and in reactive applications. */
    private static final List<String> CHAINS = List.of(
            "org.springframework.security.web.SecurityFilterChain",
            "org.springframework.security.web.server.SecurityWebFilterChain");

    private WebSecurity() {}

    /** Returns whether the application has a filter chain. Does not create it. */
    static boolean isIn(ConfigurableListableBeanFactory beans) {
        ClassLoader loader = beans.getBeanClassLoader();
        return CHAINS.stream()
                .filter(chain -> ClassUtils.isPresent(chain, loader))
                .map(chain -> ClassUtils.resolveClassName(chain, loader))
                .anyMatch(chain ->
                        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, chain, true, false).length > 0);
    }
}
