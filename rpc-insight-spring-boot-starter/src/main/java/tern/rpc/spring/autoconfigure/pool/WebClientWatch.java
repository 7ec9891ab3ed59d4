package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.BodySizes;

/**
 * Records each exchange of a WebClient, including the time to read the response. An exchange is recorded for the call whose reactive
 * chain or thread makes it. With Reactor Netty, the wait for a connection is recorded separately, and the connection
 * pool is measured.
 */
final class WebClientWatch implements WebClientCustomizer, ExchangeFilterFunction, HeldWatch {

    /** The class of the clients that Spring's own builder creates. */
    private static final String SPRINGS = "org.springframework.web.reactive.function.client.DefaultWebClient";

    private final @Nullable ReactorConnections connections;

    WebClientWatch(ObjectProvider<PoolSources> sources) {
        this.connections = ReactorConnections.isPresent() ? new ReactorConnections(sources) : null;
    }

    @Override
    public void customize(WebClient.Builder builder) {
        builder.filter(this);
    }

    /** Measures a client that does not come from Boot's builder. A mock of a client is left as it is. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof WebClient client) || !bean.getClass().getName().equals(SPRINGS)) {
            return bean;
        }
        AtomicBoolean isMeasured = new AtomicBoolean();
        WebClient.Builder builder = client.mutate()
                .filters(filters -> isMeasured.set(filters.stream().anyMatch(WebClientWatch.class::isInstance)));
        return isMeasured.get() ? client : builder.filter(this).build();
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.deferContextual(context -> {
            CallLedger ledger = ReactiveLedger.of(context);
            ReactorPool pool = connections == null ? null : connections.of(next, request.url());
            if (pool == null && !ledger.isOpen()) {
                return next.exchange(request);
            }
            String name = HttpName.of(request.method().name(), request.url());
            if (pool != null) {
                return new PooledExchange(pool, ledger, name).of(request, next);
            }
            AsyncOperation operation = ledger.begin(Phase.HTTP, () -> name);
            return measured(
                    next.exchange(request), name, operation::end, failure -> operation.end(HttpName.of(name, failure)));
        });
    }

    /**
     * Measures an exchange until its body has been read. The client reads the body later, when code asks for it.
     *
     * @param ended records the end of the exchange under a name that includes the result; called at most once
     * @param failed records that the exchange ended without a response; called instead of {@code ended}
     */
    static Mono<ClientResponse> measured(
            Mono<ClientResponse> exchange, String name, Consumer<String> ended, Consumer<Throwable> failed) {
        AtomicBoolean isOver = new AtomicBoolean();
        Consumer<String> once = result -> {
            if (isOver.compareAndSet(false, true)) {
                ended.accept(result);
            }
        };
        return exchange.map(response -> withMeasuredBody(response, name, once))
                .doOnSuccess(response -> {
                    if (response == null) {
                        once.accept(name);
                    }
                })
                .doOnError(failure -> {
                    if (isOver.compareAndSet(false, true)) {
                        failed.accept(failure);
                    }
                })
                .doOnCancel(() -> once.accept(name));
    }

    private static ClientResponse withMeasuredBody(ClientResponse response, String name, Consumer<String> ended) {
        String result = HttpName.of(name, response.statusCode().value());
        String method = name.substring(0, name.indexOf(' '));
        int status = response.statusCode().value();
        String header = response.headers().asHttpHeaders().getFirst(BodyLength.HEADER);
        long length = BodyLength.of(method, status, header);
        if (length >= 0) {
            BodySizes.ANSWERS.add(name, length);
        }
        boolean isCounted = length < 0 && BodyLength.hasBody(method, status);
        UnaryOperator<Flux<DataBuffer>> counted = isCounted ? body -> counted(body, name) : body -> body;
        return response.mutate()
                .body(body -> counted.apply(body)
                        .doOnComplete(() -> ended.accept(result))
                        .doOnError(failure -> ended.accept(HttpName.of(name, failure)))
                        .doOnCancel(() -> ended.accept(result)))
                .build();
    }

    /** Records the size of a body that the answer does not say. */
    private static Flux<DataBuffer> counted(Flux<DataBuffer> body, String name) {
        AtomicLong bytes = new AtomicLong();
        Runnable ended = () -> {
            long read = bytes.getAndSet(0);
            if (read > 0) {
                BodySizes.ANSWERS.add(name, read);
            }
        };
        return body.doOnNext(buffer -> bytes.addAndGet(buffer.readableByteCount()))
                .doOnTerminate(ended)
                .doOnCancel(ended);
    }
}
