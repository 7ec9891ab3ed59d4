package tern.rpc.load.gate;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/** Tests the whole program against a real server and a scripted Actuator endpoint. */
@Timeout(120)
class SloGateTest {

    private static final EventLoops LOOPS = EventLoops.start(1);
    private static final String DIAGNOSIS = """
        MISS since 14:02:07 (41 s) OrderService.place, target 100 ms
        1 NOT GIVEN BACK: druid 574 of 574 ms
          CHANGE   close the connection in OrderRepository.export:84; no size of "druid" helps
        """;

    private static RpcServer server;
    private static HttpServer actuator;

    private record Run(int status, String out, String err) {}

    private static final class Greetings implements GreetingService {

        @Override
        public String greet(String name) {
            return "hello " + name;
        }

        @Override
        public String greet(Visitor visitor) {
            return "hello again " + visitor.name();
        }

        @Override
        public long only0(long number) {
            if (number > 0) {
                throw new RpcException(StatusCode.NOT_FOUND, "there is no number " + number);
            }
            return number;
        }

        @Override
        public void watch(String name, StreamObserver<String> greetings) {
            greetings.onNext("hello");
            greetings.onCompleted();
        }
    }

    @BeforeAll
    static void start() throws IOException {
        TripleCodecs codecs = new TripleCodecs(
                HessianSerializer.builder().build(),
                new JsonCodec(JsonMapper.builder().build()),
                0);
        HttpSettings http = HttpSettings.defaults();
        server = RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0),
                        LOOPS,
                        List.of(new TripleProtocol(codecs, http), new Http1Protocol(codecs, http))))
                // With this long maximum wait in the queue, no call is refused, even on a slow machine.
                .maxQueueWait(Duration.ofMinutes(1))
                .export(ServiceExport.of(GreetingService.class, new Greetings()))
                .export(ServiceExport.of(GreetingService.class, new Greetings(), "north", "1.0"))
                .build();
        server.start();
        actuator = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        answer("/actuator/rpc/diagnosis", DIAGNOSIS);
        answer("/other/rpc/diagnosis", "[]");
        actuator.start();
    }

    private static void answer(String path, String text) {
        actuator.createContext(path, exchange -> {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("content-type", "text/plain");
            exchange.sendResponseHeaders(200, body.length);
            try (exchange) {
                exchange.getResponseBody().write(body);
            }
        });
    }

    @AfterAll
    static void stop() {
        actuator.stop(0);
        server.close();
        LOOPS.close();
    }

    @Test
    void steadyApplicationPasses() throws Exception {
        Run run = run("--method=greet~S", "--arguments=\"Ada {number}\"", "--seconds=1");

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("GreetingService.greet~S       20     20.0")
                .contains("PASS: 20.0 QPS (target 20)")
                .doesNotContain("actuator", "iagnosis");
    }

    @Test
    void diagnosisIsShownEvenIfTheTargetIsMet() throws Exception {
        Run run = run(
                "--method=greet~V",
                "--arguments={\"name\":\"Ada\",\"visits\":{number}}",
                "--group=north",
                "--version=1.0",
                "--seconds=1",
                "--actuator=" + actuator("/actuator/"));

        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("PASS: ", "1 NOT GIVEN BACK: druid").doesNotContain("While it was slow");
    }

    @Test
    void applicationThatFailsShowsItsDiagnosis() throws Exception {
        Run run = run("--method=only0", "--arguments={number}", "--seconds=3", "--actuator=" + actuator("/actuator"));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("60 × NOT_FOUND, the first: NOT_FOUND: there is no number ")
                .contains("FAIL: 0.0 QPS, expected 20.0")
                .containsSubsequence(
                        "While it was slow (the last of ",
                        "MISS since 14:02:07",
                        "1 NOT GIVEN BACK: druid",
                        "CHANGE   close the connection in OrderRepository.export:84");
    }

    @Test
    void failureWithoutActuatorSaysHowToGetADiagnosis() throws Exception {
        Run run = run("--method=only0", "--arguments={number}", "--seconds=1");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).contains("FAIL: ", "--actuator=http://host:8080/actuator would show");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --method=cancel                        | was answered with 404: NOT_FOUND: tern.rpc.load.gate.GreetingService has no method cancel
        --method=greet --arguments="Ada"       | was answered with 400: INVALID_ARGUMENT: greet has overloads; call one of greet~S, greet~V
        --method=only0 --arguments="many"      | was answered with 400: INVALID_ARGUMENT
        --method=only0 --arguments=7           | was answered with 404: NOT_FOUND: there is no number 7
        --method=only0 --arguments=0 --group=g | was answered with 404: NOT_FOUND
        --method=watch --arguments="Ada"       | answers with a stream; expected a method with one answer
        """)
    void methodThatCannotBeCalledGetsOneLine(String arguments, String line) throws Exception {
        Run run = run(arguments.split(" "));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("slo-gate: ").contains(line);
        assertThat(run.err().lines()).hasSize(1);
    }

    @Test
    void serverThatIsNotThereGetsOneLine() throws Exception {
        try (Socket silent = new Socket()) {
            // The socket is bound but not listening, so that no other process can use the port.
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int free = silent.getLocalPort();

            Run run = runAt("http://127.0.0.1:" + free, "--method=only0");

            assertThat(run)
                    .isEqualTo(new Run(
                            2,
                            "",
                            "slo-gate: nothing listens at http://127.0.0.1:" + free
                                    + "; start the application first, and give --url its rpc.server.port"
                                    + System.lineSeparator()));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /nowhere | /rpc/diagnosis answers with 404; expose it with management.endpoints.web.exposure.include=health,rpc
        /other   | /rpc/diagnosis answers with something other than a diagnosis
        """)
    void actuatorWithoutDiagnosisIsReportedBeforeTheLoad(String path, String line) throws Exception {
        Run run = run("--method=only0", "--arguments=0", "--actuator=" + actuator(path));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).hasSize(1).allMatch(text -> text.contains(line));
    }

    @Test
    void helpIsNoFailure() throws Exception {
        Run run = run("--help");

        assertThat(run).isEqualTo(new Run(0, GateOptions.HELP, ""));
    }

    private static Run run(String... more) throws InterruptedException {
        return runAt("http://127.0.0.1:" + server.port(), more);
    }

    private static Run runAt(String url, String... more) throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(
                "--url=" + url,
                "--service=" + GreetingService.class.getName(),
                "--rate=20",
                "--warm-up=0",
                "--users=8",
                // A latency target of one minute is met even on a slow machine.
                "--latency=1m",
                "--timeout=1m"));
        arguments.addAll(List.of(more));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = SloGate.run(
                arguments,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return new Run(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static String actuator(String path) {
        return "http://127.0.0.1:" + actuator.getAddress().getPort() + path;
    }
}
