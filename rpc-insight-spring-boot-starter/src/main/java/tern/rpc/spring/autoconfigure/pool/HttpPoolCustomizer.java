package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.List;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.ChainElement;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.pool.PoolStats;
import org.apache.hc.core5.util.Timeout;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;

/**
 * Sets the application's and Tern's limits in an HTTP client that Boot creates, and measures the client's exchanges.
 */
final class HttpPoolCustomizer
        implements ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> {

    private final HttpPoolSettings settings;
    private final SettingOrigins origins;
    private final PoolSources sources;

    HttpPoolCustomizer(HttpPoolSettings settings, SettingOrigins origins, PoolSources sources) {
        this.settings = settings;
        this.origins = origins;
        this.sources = sources;
    }

    @Override
    public HttpComponentsClientHttpRequestFactoryBuilder customize(
            HttpComponentsClientHttpRequestFactoryBuilder builder) {
        return builder.withHttpClientCustomizer(this::watch)
                .withConnectionManagerCustomizer(this::limit)
                .withDefaultRequestConfigCustomizer(this::limitWait);
    }

    private void limit(PoolingHttpClientConnectionManagerBuilder pool) {
        Integer total = settings.maxTotal();
        if (total != null) {
            pool.setMaxConnTotal(total);
        }
        Integer perHost = settings.maxPerHost();
        if (perHost != null) {
            pool.setMaxConnPerRoute(perHost);
        }
    }

    private void limitWait(RequestConfig.Builder request) {
        Duration wait = settings.maxWait();
        if (wait != null) {
            request.setConnectionRequestTimeout(Timeout.of(wait));
        }
    }

    private void watch(HttpClientBuilder client) {
        String name = sources.nameFor("http");
        HttpExchanges exchanges = new HttpExchanges(name);
        client.addExecInterceptorBefore(ChainElement.CONNECT.name(), "rpcConnection", exchanges::connect);
        client.addExecInterceptorBefore(ChainElement.MAIN_TRANSPORT.name(), "rpcExchange", exchanges::exchange);
        if (client.getConnManager() instanceof PoolingHttpClientConnectionManager pool) {
            sources.add(name, () -> snapshot(name, pool, exchanges));
        }
    }

    private PoolSnapshot snapshot(String name, PoolingHttpClientConnectionManager pool, HttpExchanges exchanges) {
        Source otherwise = origins.isTuned() ? Source.TUNED : Source.LIBRARY;
        PoolStats now = pool.getTotalStats();
        int total = pool.getMaxTotal();
        int perHost = pool.getDefaultMaxPerRoute();
        Duration wait = settings.maxWait();
        return exchanges
                .borrowings()
                .into(PoolSnapshot.builder(name, PoolKind.HTTP, total))
                .hosts(Math.min(total, perHost), exchanges.hosts())
                .now(now.getLeased(), now.getAvailable(), now.getPending())
                .waitLimit(wait == null ? PoolSnapshot.UNKNOWN : wait)
                .settings(List.of(
                        origins.setting(HttpPoolSettings.PREFIX + ".max-total", total, otherwise, Use.MAX)
                                .accepting(PoolSources.SIZES),
                        origins.setting(HttpPoolSettings.PREFIX + ".max-per-host", perHost, otherwise, Use.MAX_PER_HOST)
                                .accepting(PoolSources.SIZES),
                        origins.setting(
                                HttpPoolSettings.PREFIX + ".max-wait",
                                wait == null
                                        ? RequestConfig.DEFAULT
                                                .getConnectionRequestTimeout()
                                                .toDuration()
                                        : wait,
                                otherwise,
                                Use.WAIT_LIMIT)))
                .build();
    }
}
