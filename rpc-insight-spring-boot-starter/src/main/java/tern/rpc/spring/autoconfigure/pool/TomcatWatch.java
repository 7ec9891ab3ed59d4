package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.tomcat.TomcatConnectorCustomizer;
import org.springframework.util.ReflectionUtils;

/**
 * Gives Tomcat's first connector an instrumented thread pool, just before the connector would create its own pool. An
 * executor that uses virtual threads, or that the application has set itself, is not replaced.
 */
final class TomcatWatch implements TomcatConnectorCustomizer {

    private static final Logger LOG = LoggerFactory.getLogger(TomcatWatch.class);

    private final PoolSources sources;
    private final SettingOrigins origins;
    private final AtomicReference<@Nullable Connector> watched = new AtomicReference<>();
    private volatile @Nullable TomcatWorkers workers;

    TomcatWatch(PoolSources sources, SettingOrigins origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public void customize(Connector connector) {
        if (watched.compareAndSet(null, connector)) {
            connector.addLifecycleListener(event -> {
                if (Lifecycle.BEFORE_START_EVENT.equals(event.getType())) {
                    watch(connector);
                }
            });
        }
    }

    private void watch(Connector connector) {
        Field internal = ReflectionUtils.findField(AbstractEndpoint.class, "internalExecutor", boolean.class);
        AbstractEndpoint<?, ?> endpoint = endpoint(connector);
        if (internal == null || endpoint == null) {
            LOG.debug("The threads of Tomcat are not measured: this version of Tomcat stores them in another field");
            return;
        }
        if (endpoint.getExecutor() != null || endpoint.getUseVirtualThreads()) {
            return;
        }
        TomcatWorkers made = TomcatWorkers.of(endpoint);
        endpoint.setExecutor(made);
        ReflectionUtils.makeAccessible(internal);
        // If this field is set, Tomcat treats the pool as its own: it resizes the pool and stops it at shutdown.
        ReflectionUtils.setField(internal, endpoint, true);
        boolean first = workers == null;
        workers = made;
        if (first) {
            sources.add("tomcat", () -> workers().snapshot("tomcat", origins));
        }
    }

    private TomcatWorkers workers() {
        TomcatWorkers known = workers;
        if (known == null) {
            throw new IllegalStateException("Tomcat has no threads yet");
        }
        return known;
    }

    private static @Nullable AbstractEndpoint<?, ?> endpoint(Connector connector) {
        Field field = ReflectionUtils.findField(AbstractProtocol.class, "endpoint");
        if (field == null || !(connector.getProtocolHandler() instanceof AbstractProtocol<?> protocol)) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, protocol) instanceof AbstractEndpoint<?, ?> endpoint ? endpoint : null;
    }
}
