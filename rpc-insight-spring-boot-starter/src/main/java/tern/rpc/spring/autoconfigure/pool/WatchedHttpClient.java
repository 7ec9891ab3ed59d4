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

/** A JDK HTTP client that records its exchanges in the ledgers of the calls that make them. Thread-safe. */
final class WatchedHttpClient extends HttpClient {

    private final HttpClient client;

    WatchedHttpClient(HttpClient client) {
        this.client = client;
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        CallLedger ledger = CallLedger.current();
        // RestClient has already recorded this exchange
        if (ledger.phase() == Phase.HTTP) {
            return client.send(request, handler);
        }
        String name = HttpName.of(request.method(), request.uri());
        Phase outer = ledger.enter(Phase.HTTP, name);
        try {
            HttpResponse<T> response = client.send(request, handler);
            name = HttpName.of(name, response.statusCode());
            return response;
        } catch (IOException | InterruptedException | RuntimeException e) {
            name = HttpName.of(name, e);
            throw e;
        } finally {
            ledger.leave(outer, name);
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        return counted(request, client.sendAsync(request, handler));
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return counted(request, client.sendAsync(request, handler, pushes));
    }

    private static <T> CompletableFuture<T> counted(HttpRequest request, CompletableFuture<T> answer) {
        CallLedger ledger = CallLedger.current();
        if (ledger.isOpen() && ledger.phase() != Phase.HTTP) {
            String name = HttpName.of(request.method(), request.uri());
            AsyncOperation operation = ledger.begin(Phase.HTTP, () -> name);
            answer.whenComplete((response, failure) -> operation.end(
                    failure != null
                            ? HttpName.of(name, failure)
                            : response instanceof HttpResponse<?> answered
                                    ? HttpName.of(name, answered.statusCode())
                                    : name));
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
