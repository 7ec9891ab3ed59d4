package tern.rpc.spring.autoconfigure.pool;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/** A JDK HTTP client that records its exchanges in the ledgers of the calls that make them. Thread-safe. */
final class WatchedHttpClient extends HttpClient {

    /** The exchange that the current thread makes through RestClient or RestTemplate; null if it makes none. */
    private static final ThreadLocal<@Nullable Outer> OUTER = new ThreadLocal<>();

    private final HttpClient client;

    WatchedHttpClient(HttpClient client) {
        this.client = client;
    }

    /**
     * An exchange that RestClient or RestTemplate makes with this client. RestClient and RestTemplate hide the
     * redirects that the client follows. Used only by the thread that makes the exchange.
     */
    static final class Outer implements AutoCloseable {
        private final @Nullable Outer before = OUTER.get();
        private @Nullable CompletableFuture<? extends HttpResponse<?>> answer;

        /** Begins an exchange of the current thread. */
        static Outer begin() {
            Outer outer = new Outer();
            OUTER.set(outer);
            return outer;
        }

        /** Returns the name of the exchange with the redirects that the client has followed; null if there were none. */
        @Nullable
        String redirected(String name) {
            CompletableFuture<? extends HttpResponse<?>> known = answer;
            if (known == null || !known.isDone() || known.isCompletedExceptionally()) {
                return null;
            }
            HttpResponse<?> response = known.join();
            return response != null && response.previousResponse().isPresent() ? name(name, response) : null;
        }

        @Override
        public void close() {
            if (before == null) {
                OUTER.remove();
            } else {
                OUTER.set(before);
            }
        }
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        CallLedger ledger = CallLedger.current();
        // RestClient has already recorded this exchange
        if (ledger.phase() == Phase.HTTP) {
            HttpResponse<T> response = client.send(request, handler);
            expected(CompletableFuture.completedFuture(response));
            return response;
        }
        String name = HttpName.of(request.method(), request.uri());
        Phase outer = ledger.enter(Phase.HTTP, name);
        try {
            HttpResponse<T> response = client.send(request, handler);
            name = name(name, response);
            return response;
        } catch (IOException | InterruptedException | RuntimeException e) {
            name = HttpName.of(name, e);
            throw e;
        } finally {
            ledger.leave(outer, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.HTTP, name);
            }
        }
    }

    private static <T> CompletableFuture<HttpResponse<T>> expected(CompletableFuture<HttpResponse<T>> answer) {
        Outer outer = OUTER.get();
        if (outer != null) {
            outer.answer = answer;
        }
        return answer;
    }

    private static int redirects(HttpResponse<?> response) {
        int redirects = 0;
        Optional<? extends HttpResponse<?>> previous = response.previousResponse();
        for (; previous.isPresent(); previous = previous.get().previousResponse()) {
            int status = previous.get().statusCode();
            redirects += status >= 300 && status < 400 ? 1 : 0; // Other statuses, such as 401, are not redirects.
        }
        return redirects;
    }

    /** Returns the name of an exchange after its end. This client follows redirects within one exchange. */
    private static String name(String name, HttpResponse<?> response) {
        try {
            int redirects = redirects(response);
            return redirects > 0
                    ? HttpName.redirected(name, response.statusCode(), redirects, response.uri())
                    : HttpName.of(
                            name,
                            response.statusCode(),
                            response.headers().firstValue("Location").orElse(null),
                            HttpName.host(response.uri()));
        } catch (RuntimeException e) {
            return name; // a response of another implementation, such as a mock
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        return counted(request, expected(client.sendAsync(request, handler)));
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return counted(request, expected(client.sendAsync(request, handler, pushes)));
    }

    private static <T> CompletableFuture<T> counted(HttpRequest request, CompletableFuture<T> answer) {
        CallLedger ledger = CallLedger.current();
        if (ledger.isOpen() && ledger.phase() != Phase.HTTP) {
            String name = HttpName.of(request.method(), request.uri());
            AsyncOperation operation = ledger.begin(Phase.HTTP, () -> name);
            answer.whenComplete((response, failure) -> operation.end(
                    failure != null
                            ? HttpName.of(name, failure)
                            : response instanceof HttpResponse<?> answered ? name(name, answered) : name));
        } else if (!ledger.isOpen() && OUTER.get() == null) {
            OutsideOperations.ran(Phase.HTTP, HttpName.of(request.method(), request.uri()));
        }
        return answer;
    }

    @Override
    public WebSocket.Builder newWebSocketBuilder() {
        return client.newWebSocketBuilder();
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return client.cookieHandler();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return client.connectTimeout();
    }

    @Override
    public Redirect followRedirects() {
        return client.followRedirects();
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return client.proxy();
    }

    @Override
    public SSLContext sslContext() {
        return client.sslContext();
    }

    @Override
    public SSLParameters sslParameters() {
        return client.sslParameters();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return client.authenticator();
    }

    @Override
    public Version version() {
        return client.version();
    }

    @Override
    public Optional<Executor> executor() {
        return client.executor();
    }

    /** This method and the methods below were added to HttpClient in Java 21. */
    public void shutdown() {
        since21("shutdown");
    }

    public void shutdownNow() {
        since21("shutdownNow");
    }

    public void close() {
        since21("close");
    }

    public boolean isTerminated() {
        return Boolean.TRUE.equals(since21("isTerminated"));
    }

    public boolean awaitTermination(Duration longest) {
        return Boolean.TRUE.equals(since21("awaitTermination", longest));
    }

    private @Nullable Object since21(String name, Object... arguments) {
        Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {Duration.class};
        Method method = ReflectionUtils.findMethod(HttpClient.class, name, types);
        return method == null ? null : ReflectionUtils.invokeMethod(method, client, arguments);
    }
}
