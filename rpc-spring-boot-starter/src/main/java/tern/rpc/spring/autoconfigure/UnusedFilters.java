package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.ServerFilter;

/**
 * Warns about beans of type {@link Filter} that are neither client filters nor server filters. Tern never calls such
 * beans.
 */
final class UnusedFilters implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedFilters.class);

    private final ConfigurableListableBeanFactory beans;

    UnusedFilters(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<String> unused = Stream.of(beans.getBeanNamesForType(Filter.class, true, false))
                .filter(name -> !beans.isTypeMatch(name, ServerFilter.class))
                .filter(name -> !beans.isTypeMatch(name, ClientFilter.class))
                .toList();
        if (!unused.isEmpty()) {
            LOG.warn(
                    "Tern does not call beans of type tern.rpc.Filter: {}. Implement tern.rpc.ServerFilter for calls to"
                            + " exported services, or tern.rpc.ClientFilter for calls through references",
                    String.join(", ", unused));
        }
    }
}
