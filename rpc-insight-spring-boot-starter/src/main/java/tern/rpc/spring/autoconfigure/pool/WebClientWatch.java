package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/**
 * Records each exchange made by Boot's WebClient, up to the response headers. An exchange is recorded for the call
 * whose reactive chain or thread makes it.
 */
final class WebClientWatch implements WebClientCustomizer, ExchangeFilterFunction {

    /** The key of the exchange in the context of its reactive chain. */
    static final Object EXCHANGE = ConnectionWaits.Exchange.class;

    private final ConnectionWaits waits;

    WebClientWatch(ConnectionWaits waits) {
        this.waits = waits;
    }

    @Override
    public void customize(WebClient.Builder builder) {
        builder.filter(this);
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.deferContextual(context -> {
            CallLedger ledger = ReactiveLedger.of(context);
            String name = HttpName.of(request.method().name(), request.url());
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.HTTP, name);
            }
            AsyncOperation operation = ledger.begin(Phase.HTTP, () -> name);
            ConnectionWaits.Exchange exchange = waits.begins(operation);
            return next.exchange(request)
                    .doOnSuccess(response -> {
                        exchange.ends(true);
                        operation.end(response == null ? name : name(name, request, response));
                    })
                    .doOnError(failure -> {
                        exchange.ends(false);
                        operation.end(HttpName.of(name, failure));
                    })
                    .doOnCancel(() -> {
                        exchange.ends(false);
                        operation.end();
                    })
                    .contextWrite(with -> with.put(EXCHANGE, exchange));
        });
    }

    private static String name(String name, ClientRequest request, ClientResponse response) {
        return HttpName.of(
                name,
                response.statusCode().value(),
                response.headers().asHttpHeaders().getFirst(HttpHeaders.LOCATION),
                HttpName.host(request.url()));
    }
}
