package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.http.client.autoconfigure.reactive.ClientHttpConnectorBuilderCustomizer;
import org.springframework.boot.http.client.reactive.ReactorClientHttpConnectorBuilder;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClientRequest;

/** Reports when an exchange of Boot's WebClient has a connection of Reactor Netty. */
final class ReactorConnections implements ClientHttpConnectorBuilderCustomizer<ReactorClientHttpConnectorBuilder> {

    private final ConnectionWaits waits;

    ReactorConnections(ConnectionWaits waits) {
        this.waits = waits;
    }

    @Override
    public ReactorClientHttpConnectorBuilder customize(ReactorClientHttpConnectorBuilder builder) {
        waits.measure();
        return builder.withHttpClientCustomizer(client -> client.doOnRequest(ReactorConnections::connected));
    }

    private static void connected(HttpClientRequest request, Connection connection) {
        ConnectionWaits.Exchange exchange = request.currentContextView().getOrDefault(WebClientWatch.EXCHANGE, null);
        if (exchange != null && exchange.connected()) {
            connection.onTerminate().subscribe(ended -> {}, failure -> exchange.released(), exchange::released);
        }
    }
}
