package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import tern.rpc.RpcException;
import tern.rpc.RpcMethod;
import tern.rpc.ServerContext;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Calls a shop with JSON, over HTTP/1.1 and HTTP/2, with Java's own HTTP client. */
abstract class JsonCalls {

    /** An exception that the interface declares. */
    public static final class SoldOutException extends Exception {
        private static final long serialVersionUID = 1L;

        SoldOutException(String message) {
            super(message);
        }
    }

    @WireName("test.Shop")
    public interface Shop {

        @RpcMethod(readOnly = true)
        String find(String id);

        String sell(String id) throws SoldOutException;

        int sum(int a, int b);

        long sum(long a, long b);

        String sum(String a, String b);

        /** The first two methods of this service have the same JSON path. */
        String stock(Long id);

        String stock(List<Long> ids);

        String stock(String name);

        String load(Long id);

        String load(List<Long> ids);

        byte[] picture(byte[] bytes);

        /** Throws the exception selected by the argument. */
        String fail(String how);

        /** Returns the value of a request header. */
        @Nullable
        String header(String name);

        /** Sends response headers. */
        String headers();

        /** Returns the text. The answer is compressed if the caller accepts compression. */
        String small(String text);

        /** Blocks until the call is cancelled. */
        String never();

        /** Sends the given number of integers, starting with 0. Then fails if a kind of failure is given. */
        void numbers(int count, @Nullable String how, StreamObserver<Integer> out);

        StreamObserver<String> gather(StreamObserver<Integer> out);
    }

    private static final class ShopServer implements Shop {

        @Override
        public String find(String id) {
            return "found " + id;
        }

        @Override
        public String sell(String id) throws SoldOutException {
            throw new SoldOutException(id + " is sold out");
        }

        @Override
        public int sum(int a, int b) {
            return a + b;
        }

        @Override
        public long sum(long a, long b) {
            return -(a + b);
        }

        @Override
        public String sum(String a, String b) {
            return a + b;
        }

        @Override
        public String stock(Long id) {
            return "one";
        }

        @Override
        public String stock(List<Long> ids) {
            return "some";
        }

        @Override
        public String stock(String name) {
            return "of " + name;
        }

        @Override
        public String load(Long id) {
            return "one";
        }

        @Override
        public String load(List<Long> ids) {
            return "some";
        }

        @Override
        public byte[] picture(byte[] bytes) {
            return bytes;
        }

        @Override
        public String fail(String how) {
            throw failure(how);
        }

        private static RuntimeException failure(String how) {
            if (how.equals("details")) {
                StatusDetail detail =
                        new StatusDetail("type.googleapis.com/google.rpc.BadRequest", new byte[] {10, 1, 2});
                return new RpcException(new Status(StatusCode.FAILED_PRECONDITION, "say \"why\"\n", List.of(detail)));
            }
            return how.equals("secret")
                    ? new IllegalStateException("the password is 123")
                    : new RpcException(StatusCode.valueOf(how), "because of " + how);
        }

        @Override
        public @Nullable String header(String name) {
            return context().metadata().get(name);
        }

        @Override
        public String headers() {
            context().responseHeaders().put("x-early", "1").put("x-bytes", new byte[] {1, 2, -1});
            context().responseMetadata().put("x-late", "2").put("content-type", "text/html");
            context().sendHeaders();
            return "sent";
        }

        @Override
        public String small(String text) {
            context().compressResponse(true);
            return text;
        }

        @Override
        public String never() {
            CountDownLatch cancelled = new CountDownLatch(1);
            context().onCancel(cancelled::countDown);
            try {
                cancelled.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "late";
        }

        @Override
        public void numbers(int count, @Nullable String how, StreamObserver<Integer> out) {
            for (int i = 0; i < count; i++) {
                out.onNext(i);
            }
            if (how == null) {
                out.onCompleted();
            } else {
                out.onError(failure(how));
            }
        }

        @Override
        public StreamObserver<String> gather(StreamObserver<Integer> out) {
            throw new IllegalStateException("not reached in this form");
        }

        private static ServerContext context() {
            ServerContext context = ServerContext.current();
            if (context == null) {
                throw new IllegalStateException("no call is being served");
            }
            return context;
        }
    }

    private static TripleSides sides;
    /** The server with the default settings. */
    static RpcServer server;

    /** A server that accepts plain text and forms in addition to JSON. */
    static RpcServer open;

    @BeforeAll
    static void start() {
        sides = new TripleSides();
        server = serve(HttpSettings.defaults());
        open = serve(new HttpSettings(Cors.off(), true, true));
    }

    private static RpcServer serve(HttpSettings settings) {
        ServerTransportSettings limits = ServerTransportSettings.onPort(0)
                .withMaxInFlight(100)
                .withMaxMessageBytes(100_000)
                .withFirstBytesTimeout(Duration.ofSeconds(60));
        return sides.serve(limits, settings, builder -> builder.export(ServiceExport.of(Shop.class, new ShopServer())));
    }

    @AfterAll
    static void stop() throws Exception {
        sides.close();
    }

    static HttpRequest.Builder to(RpcServer at, String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + at.port() + "/test.Shop/" + path));
    }

    static HttpRequest.Builder to(String path) {
        return to(server, path);
    }

    static HttpRequest post(String path, String body) {
        return to(path).POST(BodyPublishers.ofString(body)).build();
    }

    static HttpResponse<String> send(Version version, HttpRequest request) {
        return send(version, request, BodyHandlers.ofString());
    }

    static <T> HttpResponse<T> send(Version version, HttpRequest request, BodyHandler<T> body) {
        HttpClient client = HttpClient.newBuilder().version(version).build();
        try {
            HttpResponse<T> response = client.send(request, body);
            assertThat(response.version()).isEqualTo(version);
            return response;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void assertError(HttpResponse<String> answer, int status, String code, String message) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(header(answer, "content-type")).isEqualTo("application/json");
        assertThat(answer.body())
                .startsWith("{\"code\":\"" + code + "\",\"message\":\"")
                .contains(message)
                .contains("\"status\":\"" + status + '"');
    }

    static String header(HttpResponse<?> answer, String name) {
        return String.join(", ", answer.headers().allValues(name));
    }
}
