package garden.world;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import garden.shop.Naps;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** An HTTP server that the shop application calls. Thread-safe. */
public final class Peer {

    private final HttpServer server =
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    private final AtomicInteger requests = new AtomicInteger();
    private volatile int usualDelay;
    private volatile int delay;
    private volatile int bodyDelay;
    private volatile int failEach;

    Peer() throws IOException {
        server.setExecutor(Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "peer");
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", this::answer);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** Sets the response time without a fault, in milliseconds. */
    public void usualDelay(int millis) {
        usualDelay = millis;
    }

    /** Sets the delay that a fault adds before the headers of an answer, in milliseconds. */
    public void delay(int millis) {
        delay = millis;
    }

    /** Sets the time between the headers and the body of an answer, in milliseconds. */
    public void bodyDelay(int millis) {
        bodyDelay = millis;
    }

    /** Makes one of every {@code requests} requests fail with status 503. If the value is 0, no request fails. */
    public void failEach(int requests) {
        failEach = requests;
    }

    void heal() {
        delay = 0;
        bodyDelay = 0;
        failEach = 0;
    }

    private void answer(HttpExchange exchange) throws IOException {
        Naps.millis(usualDelay + delay);
        int each = failEach;
        boolean fails = each > 0 && requests.incrementAndGet() % each == 0;
        byte[] body = (fails ? "busy" : "42.00").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(fails ? 503 : 200, body.length);
        if (bodyDelay > 0) {
            exchange.getResponseBody().flush();
            Naps.millis(bodyDelay);
        }
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    void stop() {
        server.stop(0);
    }
}
