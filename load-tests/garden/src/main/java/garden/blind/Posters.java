package garden.blind;

import garden.shop.Carriers;
import garden.shop.Step;
import garden.shop.Switches;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Sends requests whose answers are never read, and requests to a server that accepts no connections. */
@Component
class Posters implements Step {

    private final Carriers carriers;
    private final RestClient survey;
    private final Queue<ClientHttpResponse> open = new ConcurrentLinkedQueue<>();
    private final List<Socket> waiting = new ArrayList<>(); // control thread only
    private @Nullable ServerSocket full; // control thread only
    private volatile int fullPort;

    Posters(Carriers carriers, RestClient.Builder builder) {
        this.carriers = carriers;
        this.survey = builder.build();
        Switches.listen("http-2", level -> {
            for (ClientHttpResponse one = open.poll(); level == 0 && one != null; one = open.poll()) {
                one.close();
            }
        });
        Switches.listen("http-4", level -> {
            try {
                if (level > 0) {
                    fill();
                } else {
                    empty();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("http-2")) {
            fetch(id);
        }
        if (Switches.on("http-4")) {
            send(id);
        }
    }

    private void fetch(int id) {
        carriers.express()
                .get()
                .uri("/poster/{id}", id)
                .exchange(
                        (request, response) -> {
                            open.add(response);
                            return response.getStatusCode();
                        },
                        false);
    }

    private void send(int id) {
        survey.get()
                .uri("http://127.0.0.1:" + fullPort + "/survey/" + id)
                .retrieve()
                .toBodilessEntity();
    }

    private void fill() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        full = server;
        fullPort = server.getLocalPort();
        for (int i = 0; i < 4; i++) {
            Socket socket = new Socket();
            waiting.add(socket);
            Thread thread = new Thread(() -> {
                try {
                    socket.connect(server.getLocalSocketAddress());
                } catch (IOException e) {
                    // This exception is expected, because the server's backlog is full.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void empty() throws IOException {
        for (Socket socket : waiting) {
            socket.close();
        }
        waiting.clear();
        if (full != null) {
            full.close();
        }
    }
}
