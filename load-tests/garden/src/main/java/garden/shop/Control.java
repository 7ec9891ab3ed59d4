package garden.shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * An HTTP server that injects and removes faults in the shop application: {@code /set?name=level}, {@code /clear},
 * {@code /stop}. This server is separate from the shop's server, so that its requests do not count as calls to the
 * shop.
 */
final class Control {

    private Control() {}

    /**
     * Starts the server.
     *
     * @return its port
     */
    static int start(ConfigurableApplicationContext shop) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/set", exchange -> {
            String[] pair = exchange.getRequestURI().getQuery().split("=", 2);
            answer(exchange, () -> Switches.set(pair[0], Double.parseDouble(pair[1])));
        });
        server.createContext("/clear", exchange -> answer(exchange, Switches::clear));
        server.createContext("/stop", exchange -> {
            answer(exchange, () -> {});
            new Thread(() -> System.exit(shop.isActive() ? 0 : 1), "stop").start();
        });
        server.start();
        return server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, Runnable action) throws IOException {
        String text = "ok";
        try {
            action.run();
        } catch (RuntimeException e) {
            text = e.toString();
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
