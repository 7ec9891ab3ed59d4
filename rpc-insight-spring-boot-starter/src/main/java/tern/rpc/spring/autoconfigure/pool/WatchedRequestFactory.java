package tern.rpc.spring.autoconfigure.pool;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
import tern.rpc.pool.BodySizes;
import tern.rpc.pool.OutsideOperations;

/**
 * Records the exchanges that RestClient and RestTemplate make through any HTTP client, including the time to read the
 * response and the sizes of the bodies. Thread-safe.
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
        private volatile @Nullable SentBody sent;

        Request(ClientHttpRequest request) {
            this.request = request;
        }

        /** Returns a stream that counts the bytes of the request's body. A repeated body is counted anew. */
        OutputStream counted(OutputStream body) {
            SentBody counted = new SentBody(body);
            sent = counted;
            return counted;
        }

        /** Records the size of the request, and of the answer if the answer says it. */
        private Response measured(ClientHttpResponse response, String exchange, String name) throws IOException {
            SentBody body = sent;
            if (body != null) {
                BodySizes.REQUESTS.add(exchange, body.bytes);
            }
            String method = getMethod().name();
            int status = response.getStatusCode().value();
            long length = BodyLength.of(method, status, response.getHeaders().getFirst(BodyLength.HEADER));
            if (length >= 0) {
                BodySizes.ANSWERS.add(exchange, length);
            }
            return new Response(response, name, length < 0 && BodyLength.hasBody(method, status) ? exchange : null);
        }

        /** Sends the request. Does not record the exchange if the client does so itself. */
        @Override
        public ClientHttpResponse execute() throws IOException {
            String exchange = HttpName.of(getMethod().name(), getURI());
            String name = exchange;
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
                return measured(response, exchange, name);
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
            return counted(request.getBody());
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
            message.setBody(new Body() {
                @Override
                public void writeTo(OutputStream into) throws IOException {
                    body.writeTo(counted(into));
                }

                @Override
                public boolean repeatable() {
                    return body.repeatable();
                }
            });
        }
    }

    /** The body of a request. Counts its bytes. */
    private static final class SentBody extends FilterOutputStream {
        private volatile long bytes; // written by one thread at a time

        SentBody(OutputStream body) {
            super(body);
        }

        @Override
        public void write(int value) throws IOException {
            out.write(value);
            add(1);
        }

        @Override
        public void write(byte[] values, int offset, int length) throws IOException {
            out.write(values, offset, length);
            add(length);
        }

        private void add(int length) {
            long before = bytes;
            bytes = before + length;
        }
    }

    private static final class Response implements ClientHttpResponse {
        private final ClientHttpResponse response;
        private final String name;
        private @Nullable String counted; // the exchange whose body is counted; null if its size is recorded
        private long bytes;

        Response(ClientHttpResponse response, String name, @Nullable String counted) {
            this.response = response;
            this.name = name;
            this.counted = counted;
        }

        @Override
        public InputStream getBody() throws IOException {
            InputStream body = response.getBody();
            return CallLedger.current().isOpen() ? new Body(body, this) : body;
        }

        /** Adds bytes that code has read; a negative number is the end of the body. */
        void read(int length) {
            if (length < 0) {
                ended();
            } else {
                bytes += length;
            }
        }

        private void ended() {
            String exchange = counted;
            if (exchange != null && bytes > 0) {
                counted = null;
                BodySizes.ANSWERS.add(exchange, bytes);
            }
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
                ended();
                ledger.returnTo(outer, name);
            }
        }
    }

    /** The body of a response. The time to read the body is added to the exchange, and its bytes are counted. */
    private static final class Body extends FilterInputStream {
        private final Response response;

        Body(InputStream body, Response response) {
            super(body);
            this.response = response;
        }

        @Override
        public int read() throws IOException {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.HTTP, response.name);
            try {
                int value = super.read();
                response.read(value < 0 ? -1 : 1);
                return value;
            } finally {
                ledger.returnTo(outer, response.name);
            }
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.HTTP, response.name);
            try {
                int count = super.read(bytes, offset, length);
                response.read(count);
                return count;
            } finally {
                ledger.returnTo(outer, response.name);
            }
        }
    }
}
