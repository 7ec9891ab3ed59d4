package tern.rpc.spring.autoconfigure.pool;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hc.client5.http.classic.ExecChain;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpHeaders;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/**
 * Measures one client's exchanges. The wait for a connection and the exchange on the connection are measured
 * separately. Reading a streamed body is not measured, because it happens later. Thread-safe.
 */
final class HttpExchanges {

    /** The maximum number of hosts to count. Counting more hosts would not change any advice. */
    private static final int MAX_HOSTS = 64;

    /** The name of the client's pool. Ledgers record waits for a connection under this name. */
    private final String pool;

    private final Borrowings borrowings = new Borrowings();
    private final Set<String> hosts = ConcurrentHashMap.newKeySet();

    HttpExchanges(String pool) {
        this.pool = pool;
    }

    Borrowings borrowings() {
        return borrowings;
    }

    int hosts() {
        return Math.max(1, hosts.size());
    }

    /** Measures the wait for a connection, including the time to open a connection if none is free. */
    ClassicHttpResponse connect(ClassicHttpRequest request, ExecChain.Scope scope, ExecChain chain)
            throws IOException, HttpException {
        if (hosts.size() < MAX_HOSTS) {
            hosts.add(scope.route.getTargetHost().toHostString());
        }
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.HTTP_CONNECTION, pool);
        Wait wait = new Wait(borrowings.asked());
        scope.clientContext.setAttribute(Wait.NAME, wait);
        try {
            return chain.proceed(request, scope);
        } finally {
            if (!wait.over) {
                borrowings.refused(wait.askedAt);
            }
            ledger.leave(outer, pool);
        }
    }

    /** Measures the exchange on the connection. */
    ClassicHttpResponse exchange(ClassicHttpRequest request, ExecChain.Scope scope, ExecChain chain)
            throws IOException, HttpException {
        Wait wait = (Wait) scope.clientContext.getAttribute(Wait.NAME);
        // After an authentication challenge, the client repeats the exchange on the same connection. The wait is
        // recorded only the first time.
        boolean first = wait != null && !wait.over;
        long takenAt = first ? borrowings.taken(wait.askedAt) : 0;
        if (first) {
            wait.over = true;
        }
        CallLedger ledger = CallLedger.current();
        String host = scope.route.getTargetHost().toHostString();
        String name = HttpName.of(request.getMethod(), host, request.getPath());
        long begun = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.HTTP, name);
        try {
            ClassicHttpResponse response = chain.proceed(request, scope);
            Header location = response.getFirstHeader(HttpHeaders.LOCATION);
            name = HttpName.of(name, response.getCode(), location == null ? null : location.getValue(), host);
            return response;
        } catch (IOException | HttpException | RuntimeException e) {
            name = HttpName.of(name, e);
            throw e;
        } finally {
            if (first) {
                borrowings.returned(takenAt);
            }
            ledger.leave(outer, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.HTTP, name, System.nanoTime() - begun);
            }
        }
    }

    /** The wait of one request for a connection. Used only by the request's thread. */
    private static final class Wait {
        static final String NAME = "rpc.connection-wait";

        final long askedAt;
        boolean over;

        Wait(long askedAt) {
            this.askedAt = askedAt;
        }
    }
}
