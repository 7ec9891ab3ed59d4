package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import example.http.OrderService;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Runs the examples in docs/http.md and compares their output with the output shown on the page. */
@Timeout(60)
class DocumentedHttpTest {

    private static final Path PAGE = Path.of("..", "docs", "http.md");
    private static final Pattern CONSOLE = Pattern.compile("```console\n(.*?)```", Pattern.DOTALL);
    private static final Pattern COMMAND = Pattern.compile("\\$ (curl [^\n]*)\n(.*?)(?=\\$ curl|\\z)", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");
    private static final TripleSides SIDES = new TripleSides();
    private static RpcServer server;

    /** Implements the example's service, with a single order. */
    private static final class Orders implements OrderService {

        @Override
        public Order find(String id) {
            if (!id.equals("1")) {
                throw new RpcException(StatusCode.NOT_FOUND, "there is no order " + id);
            }
            return new Order("1", "tea", 2);
        }

        @Override
        public Order place(String item, int count) {
            return new Order("1", item, count);
        }

        @Override
        public Order place(Order order) {
            return order;
        }

        @Override
        public void watch(String id, StreamObserver<String> states) {
            states.onNext("packed");
            if (id.equals("1")) {
                states.onNext("sent");
                states.onCompleted();
            } else {
                states.onError(new RpcException(StatusCode.DATA_LOSS, "parcel " + id + " was lost"));
            }
        }
    }

    @BeforeAll
    static void start() {
        server = SIDES.serve(
                ServerTransportSettings.onPort(0),
                HttpSettings.defaults(),
                builder -> builder.export(ServiceExport.of(OrderService.class, new Orders())));
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    @Test
    void documentedInterfaceEqualsTheTests() throws IOException {
        Path source = Path.of("src", "test", "java", "example", "http", "OrderService.java");

        assertThat(Files.readString(PAGE)).contains("```java\n" + Files.readString(source) + "```");
    }

    @TestFactory
    Stream<DynamicTest> commandsAnswerAsShown() throws IOException {
        Map<String, String> answers = new LinkedHashMap<>();
        Matcher block = CONSOLE.matcher(Files.readString(PAGE));
        while (block.find()) {
            Matcher command = COMMAND.matcher(block.group(1));
            while (command.find()) {
                answers.put(command.group(1), command.group(2));
            }
        }
        assertThat(answers).hasSizeGreaterThan(10);
        return answers.entrySet().stream()
                .map(shown -> dynamicTest(
                        shown.getKey(),
                        () -> assertThat(run(shown.getKey()).strip())
                                .isEqualTo(shown.getValue().strip())));
    }

    /** Executes a curl command. Supports only the options that docs/http.md uses. */
    private static String run(String curl) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(curl);
        while (word.find()) {
            words.add(word.group(1) == null ? word.group(2) : word.group(1));
        }
        HttpRequest.Builder request = HttpRequest.newBuilder();
        BodyPublisher body = null;
        for (int i = 1; i < words.size(); i++) {
            switch (words.get(i)) {
                case "--json" -> {
                    body = BodyPublishers.ofString(words.get(++i));
                    request.header("content-type", "application/json").header("accept", "application/json");
                }
                case "-H" -> {
                    String[] header = words.get(++i).split(": ", 2);
                    request.header(header[0], header[1]);
                }
                case "-X" -> {
                    assertThat(words.get(++i)).isEqualTo("POST");
                    body = BodyPublishers.noBody();
                }
                case "-N" -> {
                    // the option -N only changes the time when curl prints its output, so the test ignores this option
                }
                default ->
                    request.uri(URI.create(
                            "http://" + words.get(i).replace("localhost:20880", "localhost:" + server.port())));
            }
        }
        if (body != null) {
            request.POST(body);
        }
        return HttpClient.newHttpClient()
                .send(request.version(HttpClient.Version.HTTP_1_1).build(), BodyHandlers.ofString())
                .body();
    }
}
