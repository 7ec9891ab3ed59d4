package tern.rpc.spring.autoconfigure.pool;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ReflectionUtils;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.BodySizes;
import tern.rpc.pool.OutsideOperations;

/** A JDK HTTP client that records its exchanges in the ledgers of the calls that make them. Thread-safe. */
final class WatchedHttpClient extends HttpClient {

    private static final Logger LOG = LoggerFactory.getLogger(WatchedHttpClient.class);

    private final HttpClient client;
    private final boolean isOfFactory; // whether a WatchedRequestFactory records the exchanges

    WatchedHttpClient(HttpClient client) {
        this(client, false);
    }

    private WatchedHttpClient(HttpClient client, boolean isOfFactory) {
        this.client = client;
        this.isOfFactory = isOfFactory;
    }

    /**
     * Returns a client for a request factory whose exchanges {@link WatchedRequestFactory} records. This client only
     * names the redirects that it has followed, because RestClient and RestTemplate hide them.
     */
    static WatchedHttpClient ofFactory(HttpClient client) {
        return client instanceof WatchedHttpClient watched
                ? watched.isOfFactory ? watched : new WatchedHttpClient(watched.client, true)
                : new WatchedHttpClient(client, true);
    }

    /**
     * The answer to an exchange of RestClient or RestTemplate. The thread that makes the exchange waits for the answer,
     * and then adds the redirects to the name of its call's running operation.
     */
    private static final class Answer<T> extends CompletableFuture<HttpResponse<T>> {
        private final HttpRequest request;
        private final CompletableFuture<HttpResponse<T>> answer;

        Answer(HttpRequest request, CompletableFuture<HttpResponse<T>> answer) {
            this.request = request;
            this.answer = answer;
            answer.whenComplete((response, failure) -> {
                if (failure != null) {
                    completeExceptionally(failure);
                } else {
                    complete(response);
                }
            });
        }

        @Override
        public HttpResponse<T> get() throws InterruptedException, ExecutionException {
            return renamed(request, super.get());
        }

        @Override
        public HttpResponse<T> get(long longest, TimeUnit unit)
                throws InterruptedException, ExecutionException, TimeoutException {
            return renamed(request, super.get(longest, unit));
        }

        /** Returns a future of the client's own type. If it is cancelled, the client ends the exchange. */
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return answer.newIncompleteFuture();
        }

        /** Cancels both this future and the exchange. */
        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean isCancelled = super.cancel(mayInterrupt);
            answer.cancel(mayInterrupt);
            return isCancelled;
        }
    }

    /** Adds the redirects that the client has followed, if any, to the name of the call's running operation. */
    private static <T> HttpResponse<T> renamed(HttpRequest request, HttpResponse<T> response) {
        String exchange = HttpName.of(request.method(), request.uri());
        String name = name(exchange, response);
        if (HttpName.isRedirected(name, exchange)) {
            CallLedger ledger = CallLedger.current();
            ledger.rename(Phase.HTTP, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.HTTP, name);
            }
        }
        return response;
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        CallLedger ledger = CallLedger.current();
        if (isRecorded()) {
            return renamed(request, client.send(request, handler));
        }
        String name = HttpName.of(request.method(), request.uri());
        long begun = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.HTTP, name);
        try {
            HttpResponse<T> response = client.send(request, sized(request, handler));
            addSize(request, response);
            name = name(name, response);
            return response;
        } catch (IOException | InterruptedException | RuntimeException e) {
            name = HttpName.of(name, e);
            throw e;
        } finally {
            ledger.leave(outer, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.HTTP, name, System.nanoTime() - begun);
            }
        }
    }

    /** Returns whether the exchange belongs to RestClient or RestTemplate, and is recorded there. */
    private boolean isRecorded() {
        return isOfFactory || CallLedger.current().phase() == Phase.HTTP;
    }

    private static int redirects(HttpResponse<?> response) {
        int redirects = 0;
        Optional<? extends HttpResponse<?>> previous = response.previousResponse();
        for (; previous.isPresent(); previous = previous.get().previousResponse()) {
            int status = previous.get().statusCode();
            // An answer with another status, such as 401, is not a redirect.
            redirects += status >= 300 && status < 400 ? 1 : 0;
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
        return counted(request, client.sendAsync(request, isRecorded() ? handler : sized(request, handler)));
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return counted(request, client.sendAsync(request, isRecorded() ? handler : sized(request, handler), pushes));
    }

    /** Returns a handler that also records the size of the answer, if the answer says it. */
    private static <T> BodyHandler<T> sized(HttpRequest request, BodyHandler<T> handler) {
        return answer -> {
            long length = length(request, answer.statusCode(), answer.headers());
            if (length >= 0) {
                BodySizes.ANSWERS.add(exchange(request), length);
            }
            return handler.apply(answer);
        };
    }

    /** Records the size of the request, and of an answer that did not say its size, as far as they are known. */
    private static void addSize(HttpRequest request, HttpResponse<?> response) {
        try {
            long sent =
                    request.bodyPublisher().map(BodyPublisher::contentLength).orElse(-1L);
            if (sent >= 0) {
                BodySizes.REQUESTS.add(exchange(request), sent);
            }
            Object body = response.body();
            long bytes = body instanceof String text ? text.length() : body instanceof byte[] array ? array.length : -1;
            int status = response.statusCode();
            boolean isUnknown = bytes >= 0 && BodyLength.hasBody(request.method(), status);
            if (isUnknown && length(request, status, response.headers()) < 0) {
                BodySizes.ANSWERS.add(exchange(request), bytes);
            }
        } catch (RuntimeException e) {
            LOG.debug("The size of an answer is unknown", e); // an answer of another implementation, such as a mock
        }
    }

    private static String exchange(HttpRequest request) {
        return HttpName.of(request.method(), request.uri());
    }

    private static long length(HttpRequest request, int status, HttpHeaders headers) {
        return BodyLength.of(
                request.method(), status, headers.firstValue(BodyLength.HEADER).orElse(null));
    }

    private <T> CompletableFuture<HttpResponse<T>> counted(
            HttpRequest request, CompletableFuture<HttpResponse<T>> answer) {
        CallLedger ledger = CallLedger.current();
        if (isRecorded()) {
            return new Answer<>(request, answer);
        }
        String name = HttpName.of(request.method(), request.uri());
        if (ledger.isOpen()) {
            AsyncOperation operation = ledger.begin(Phase.HTTP, () -> name);
            answer.whenComplete((response, failure) -> {
                operation.end(failure != null ? HttpName.of(name, failure) : name(name, response));
                if (failure == null) {
                    addSize(request, response);
                }
            });
        } else {
            OutsideOperations.ran(Phase.HTTP, name);
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
