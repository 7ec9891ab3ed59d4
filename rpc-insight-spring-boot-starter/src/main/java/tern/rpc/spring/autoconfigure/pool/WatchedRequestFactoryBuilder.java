package tern.rpc.spring.autoconfigure.pool;

import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.http.client.ClientHttpRequestFactory;

/**
 * Builds request factories with Boot's builder and wraps them in measuring factories. Customizers receive the
 * library's own factory, without the measuring wrapper.
 */
final class WatchedRequestFactoryBuilder<T extends ClientHttpRequestFactory>
        implements ClientHttpRequestFactoryBuilder<ClientHttpRequestFactory> {

    private final ClientHttpRequestFactoryBuilder<T> builder;

    WatchedRequestFactoryBuilder(ClientHttpRequestFactoryBuilder<T> builder) {
        this.builder = builder;
    }

    @Override
    public ClientHttpRequestFactory build(@Nullable HttpClientSettings settings) {
        return WatchedRequestFactory.of(builder.build(settings));
    }

    @Override
    public ClientHttpRequestFactoryBuilder<ClientHttpRequestFactory> withCustomizer(
            Consumer<ClientHttpRequestFactory> customizer) {
        return new WatchedRequestFactoryBuilder<>(builder.withCustomizer(customizer::accept));
    }

    @Override
    public ClientHttpRequestFactoryBuilder<ClientHttpRequestFactory> withCustomizers(
            Collection<Consumer<ClientHttpRequestFactory>> customizers) {
        ClientHttpRequestFactoryBuilder<T> customized = builder;
        for (Consumer<ClientHttpRequestFactory> customizer : customizers) {
            customized = customized.withCustomizer(customizer::accept);
        }
        return new WatchedRequestFactoryBuilder<>(customized);
    }
}
