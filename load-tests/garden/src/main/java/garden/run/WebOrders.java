package garden.run;

import garden.shop.OrderService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Calls the shop application with web requests. */
final class WebOrders implements OrderService {

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    WebOrders(int port) {
        this.address = "http://127.0.0.1:" + port;
    }

    @Override
    public String place(int id) {
        return send(request("/place/" + id));
    }

    @Override
    public String view(int id) {
        return send(request("/view/" + id));
    }

    @Override
    public String history(int id) {
        return send(request("/history/" + id));
    }

    @Override
    public int attach(byte[] document) {
        return Integer.parseInt(send(request("/attach")
                .header("Content-Type", "application/octet-stream")
                .POST(HttpRequest.BodyPublishers.ofByteArray(document))));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + path)).timeout(Duration.ofSeconds(3));
    }

    private String send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IllegalStateException("status " + response.statusCode());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
