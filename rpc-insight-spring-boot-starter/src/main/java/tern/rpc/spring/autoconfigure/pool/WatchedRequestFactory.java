package tern.rpc.spring.autoconfigure.pool;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Map;
import org.springframework.core.NativeDetector;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.StreamingHttpOutputMessage;
import org.springframework.http.client.ClientHttpRequest;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.util.ReflectionUtils;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/**
 * Records the exchanges that RestClient and RestTemplate make through any HTTP client, including the time to read the
 * response. Thread-safe.
 */
final class WatchedRequestFactory implements ClientHttpRequestFactory {

    private final ClientHttpRequestFactory factory;

    private WatchedRequestFactory(ClientHttpRequestFactory factory) {
        this.factory = factory;
    }

    static ClientHttpRequestFactory of(ClientHttpRequestFactory factory) {
        if (factory instanceof WatchedRequestFactory) {
            return factory;
        }
        if (factory instanceof JdkClientHttpRequestFactory) {
            watchClient(factory);
        }
        return new WatchedRequestFactory(factory);
    }

    /**
     * Replaces the JDK's client in a factory, because only the client can report the redirects that it has followed.
     * The client must be replaced after its creation: Boot's builder creates the client itself, and its customizers can
     * change only the JDK's client builder. If the factory has no field for the client, the names of exchanges do not
     * contain redirects.
     */
    private static void watchClient(ClientHttpRequestFactory factory) {
        Field field = ReflectionUtils.findField(JdkClientHttpRequestFactory.class, "httpClient", HttpClient.class);
        if (field == null || NativeDetector.inNativeImage()) {
            return;
        }
        ReflectionUtils.makeAccessible(field);
        if (ReflectionUtils.getField(field, factory) instanceof HttpClient client) {
            ReflectionUtils.setField(field, factory, WatchedHttpClient.ofFactory(client));
        }
    }

    @Override
    public ClientHttpRequest createRequest(URI address, HttpMethod method) throws IOException {
        ClientHttpRequest request = factory.createRequest(address, method);
        return request instanceof StreamingHttpOutputMessage streaming
                ? new StreamingRequest(request, streaming)
                : new Request(request);
    }

    private static class Request implements ClientHttpRequest {
        private final ClientHttpRequest request;

        Request(ClientHttpRequest request) {
            this.request = request;
        }

        /** Sends the request. Does not record the exchange if the client does so itself. */
        @Override
        public ClientHttpResponse execute() throws IOException {
            String name = HttpName.of(getMethod().name(), getURI());
            CallLedger ledger = CallLedger.current();
            int before = ledger.count(Phase.HTTP) + ledger.count(Phase.HTTP_CONNECTION);
            long begun = ledger.isOpen() ? 0 : System.nanoTime();
            Phase outer = ledger.turnTo(Phase.HTTP, name);
            try {
                ClientHttpResponse response = request.execute();
                String running = ledger.running(Phase.HTTP);
                name = running != null && HttpName.isRedirected(running, name)
                        ? running
                        : HttpName.of(
                                name,
                                response.getStatusCode().value(),
                                response.getHeaders().getFirst(HttpHeaders.LOCATION),
                                HttpName.host(getURI()));
                return new Response(response, name);
            } catch (IOException | RuntimeException e) {
                name = HttpName.of(name, e);
                throw e;
            } finally {
                if (ledger.count(Phase.HTTP) + ledger.count(Phase.HTTP_CONNECTION) == before) {
                    ledger.add(Phase.HTTP, 0);
                    ledger.leave(outer, name);
                } else {
                    ledger.returnTo(outer, name);
                }
                if (!ledger.isOpen()) {
                    OutsideOperations.ran(Phase.HTTP, name, System.nanoTime() - begun);
                }
            }
        }

        @Override
        public HttpMethod getMethod() {
            return request.getMethod();
        }

        @Override
        public URI getURI() {
            return request.getURI();
        }

        @Override
        public Map<String, Object> getAttributes() {
            return request.getAttributes();
        }

        @Override
        public HttpHeaders getHeaders() {
            return request.getHeaders();
        }

        @Override
        public OutputStream getBody() throws IOException {
            return request.getBody();
        }
    }

    /** A request whose body is written while the request is being sent. */
    private static final class StreamingRequest extends Request implements StreamingHttpOutputMessage {
        private final StreamingHttpOutputMessage message;

        StreamingRequest(ClientHttpRequest request, StreamingHttpOutputMessage message) {
            super(request);
            this.message = message;
        }

        @Override
        public void setBody(Body body) {
            message.setBody(body);
        }
    }

    private record Response(ClientHttpResponse response, String name) implements ClientHttpResponse {

        @Override
        public InputStream getBody() throws IOException {
            InputStream body = response.getBody();
            return CallLedger.current().isOpen() ? new Body(body, name) : body;
        }

        @Override
        public HttpStatusCode getStatusCode() throws IOException {
            return response.getStatusCode();
        }

        @Override
        public String getStatusText() throws IOException {
            return response.getStatusText();
        }

        @Override
        public HttpHeaders getHeaders() {
            return response.getHeaders();
        }

        /**
         * Closes the response. Closing the response reads the rest of the body, so that the connection can be reused.
         * The time for reading the rest of the body is added to the exchange.
         */
        @Override
        public void close() {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.HTTP, name);
            try {
                response.close();
            } finally {
                ledger.returnTo(outer, name);
            }
        }
    }

    /** The body of a response. The time to read the body is added to the exchange. */
    private static final class Body extends FilterInputStream {
        private final String name;

        Body(InputStream body, String name) {
            super(body);
            this.name = name;
        }

        @Override
        public int read() throws IOException {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.HTTP, name);
            try {
                return super.read();
            } finally {
                ledger.returnTo(outer, name);
            }
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.HTTP, name);
            try {
                return super.read(bytes, offset, length);
            } finally {
                ledger.returnTo(outer, name);
            }
        }
    }
}
