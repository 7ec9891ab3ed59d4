package tern.rpc.spring.autoconfigure.pool;

import org.springframework.http.client.reactive.ClientHttpRequest;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/**
 * One exchange of a WebClient on a pooled Reactor Netty connection. The client writes the request as soon as it has a
 * connection. The time before the write is therefore the wait for a connection. If no connection is free, the wait
 * includes the time to open one. Thread-safe.
 */
final class PooledExchange {

    private static final String POOL_FAILURES = "PoolAcquire";
    private static final int MAX_CAUSES = 8;

    private final ReactorPool pool;
    private final CallLedger ledger;
    private final String name;
    private final long askedAt;
    private boolean waits = true; // This object's lock guards this field and "operation".
    private AsyncOperation operation;

    PooledExchange(ReactorPool pool, CallLedger ledger, String name) {
        this.pool = pool;
        this.ledger = ledger;
        this.name = name;
        this.askedAt = pool.asked();
        this.operation = ledger.begin(Phase.HTTP_CONNECTION, pool::name);
    }

    Mono<ClientResponse> of(ClientRequest request, ExchangeFunction next) {
        ClientRequest watched =
                ClientRequest.from(request).httpRequest(this::connected).build();
        return WebClientWatch.measured(next.exchange(watched), name, this::ended, this::failed);
    }

    /** Called when the client has a connection. A client that follows redirects can use several connections. */
    private synchronized void connected(ClientHttpRequest request) {
        if (!waits) {
            return;
        }
        waits = false;
        Object connection = request.getNativeRequest();
        long takenAt = pool.taken(askedAt);
        if (connection instanceof Connection used) {
            used.onTerminate().subscribe(null, failure -> pool.returned(takenAt), () -> pool.returned(takenAt));
        } else {
            pool.returned(takenAt);
        }
        operation.end();
        operation = ledger.begin(Phase.HTTP, () -> name);
    }

    /** If the exchange failed before it had a connection, and the pool was not full, the peer caused the failure. */
    private synchronized void failed(Throwable failure) {
        String result = HttpName.of(name, failure);
        if (waits && !isOfPool(failure)) {
            waits = false;
            pool.refused(askedAt);
            operation.endAs(Phase.HTTP, result);
        } else {
            ended(result);
        }
    }

    /** @param result the name of the exchange, followed by its result */
    private synchronized void ended(String result) {
        if (waits) {
            waits = false;
            pool.refused(askedAt);
            operation.end();
        } else {
            operation.end(result);
        }
    }

    /** Returns whether the exchange failed because the pool had no connection for it. */
    private static boolean isOfPool(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            if (cause.getClass().getSimpleName().startsWith(POOL_FAILURES)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }
}
