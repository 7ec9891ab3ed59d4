package tern.rpc.load.peer;

import com.google.gson.Gson;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;

/**
 * JSON over HTTP/1.1, encoded with Gson. The server is Jetty, and the client is Apache HttpClient with a pool that has
 * one connection per caller.
 */
final class HttpJsonPeer implements Peer {

    private final Opened opened = new Opened();

    @Override
    public void serve(int port, Services services) {
        Gson gson = JsonText.gson();
        Map<String, JsonCall<?, ?>> calls =
                JsonCall.ALL.stream().collect(Collectors.toMap(JsonCall::path, Function.identity()));
        opened.add(JettyServer.start(
                port,
                "application/json",
                (path, body) -> answer(gson, Objects.requireNonNull(calls.get(path), path), services, body)));
    }

    private static <A, R> byte[] answer(Gson gson, JsonCall<A, R> call, Services services, InputStream body) {
        A argument = gson.fromJson(new InputStreamReader(body, StandardCharsets.UTF_8), call.argument());
        R answer = call.method().apply(services, argument);
        return gson.toJson(answer, call.answer().getType()).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Services connect(int port) {
        CloseableHttpClient client = HttpClients.custom()
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setMaxConnPerRoute(CONNECTIONS)
                        .setMaxConnTotal(CONNECTIONS)
                        .build())
                .build();
        opened.add(client);
        return HttpJsonCalls.over(
                client, "http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port);
    }

    @Override
    public void close() {
        opened.close();
    }
}
