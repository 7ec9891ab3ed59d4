package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import shop.Shop;
import shop.ShopApplication;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.server.RpcServer;
import tools.jackson.databind.JsonNode;

/** Tests unary and streaming calls from the console, with valid and invalid arguments. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleCallTest {

    private ConfigurableApplicationContext there;
    private Http http;

    @BeforeAll
    void start() {
        there = Consoles.start(
                WebApplicationType.SERVLET,
                Consoles.SHOWN,
                Consoles.CALLS,
                "rpc.server.services.shop.methods.forget.max-concurrency=1");
        http = Http.of(there);
    }

    @AfterAll
    void stop() {
        there.getBean(ShopApplication.Sales.class).release.countDown();
        there.close();
    }

    private Http.Answer post(String body) {
        return http.call(Consoles.PATH + "/call", body);
    }

    private JsonNode result(String method, String... messages) {
        Http.Answer answer = post(Consoles.call(method, messages));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private static List<String> answers(JsonNode result) {
        return result.path("answers").valueStream().map(JsonNode::asString).toList();
    }

    @Test
    void unaryCallHasResultPhasesAndTrace() {
        JsonNode result = result("greet", "[\"Ann\"]");

        assertThat(answers(result)).containsExactly("\"Hello Ann\"");
        assertThat(result.path("code").asString()).isEqualTo("OK");
        assertThat(result.path("executed").asString()).isEqualTo("YES");
        assertThat(result.path("cut").asString()).isEmpty();
        assertThat(result.path("exception").isNull()).isTrue();
        assertThat(result.path("sizeBytes").asInt()).isEqualTo(11);
        assertThat(result.path("tookMillis").asDouble()).isPositive();
        assertThat(result.path("phases")
                        .valueStream()
                        .map(phase -> phase.path("phase").asString()))
                .contains("decode", "own");
        assertThat(result.path("trace").asString()).matches("[0-9a-f]{32}");
    }

    @Test
    void argumentsKeepTheirTypes() {
        JsonNode result = result(
                "place",
                "[{\"number\": 9007199254740993, \"the-day\": \"2026-01-31\", \"within\": \"PT5S\","
                        + " \"receipt\": \"AAEC\", \"items\": {\"a\": {\"name\": \"pen\", \"price\": 1.10,"
                        + " \"size\": \"LARGE\"}}}, 1]");

        assertThat(answers(result).get(0))
                .contains("\"number\":9007199254740993", "\"the-day\":\"2026-01-31\"", "\"price\":1.10", "\"AAEC\"");
    }

    @Test
    void singleArgumentMayBeAListItself() {
        assertThat(answers(result("sorted", "[[\"b\", \"a\"]]"))).containsExactly("[\"a\",\"b\"]");
        assertThat(answers(result("sorted", "[\"b\", \"a\"]"))).containsExactly("[\"a\",\"b\"]");
        assertThat(answers(result("sorted", "[[]]"))).containsExactly("[]");
    }

    @Test
    void methodWithoutArgumentsAndResultIsCalled() {
        assertThat(answers(result("forget"))).containsExactly("null");
        assertThat(answers(result("forget", "[]"))).containsExactly("null");
        assertThat(answers(result("forget", "{}"))).containsExactly("null");
    }

    @Test
    void headersAreSentInBothDirections() {
        JsonNode result = post(Consoles.call(
                        "header", ",\"headers\":{\"x-tenant\":\"blue\"}", new String[] {"[\"x-tenant\"]"}))
                .json();

        assertThat(answers(result)).containsExactly("\"blue over console\"");
        assertThat(result.path("headers").path("x-asked").asString()).isEqualTo("x-tenant");
        assertThat(result.path("trailers").path("x-done").asString()).isEqualTo("yes");
    }

    @Test
    void overloadIsChosenByItsDescriptor() {
        assertThat(answers(post(Consoles.call("overloaded", ",\"descriptor\":\"I\"", new String[] {"[1]"}))
                        .json()))
                .containsExactly("\"number 1\"");
        assertThat(post(Consoles.call("overloaded", "[1]")).text()).contains("descriptors", "I, Ljava/lang/String;");
    }

    @Test
    void streamOfAnswersIsCollected() {
        JsonNode result = result("count", "[3]");

        assertThat(answers(result)).containsExactly("1", "2", "3");
        assertThat(result.path("code").asString()).isEqualTo("OK");
        assertThat(result.path("phases").size()).isPositive();
    }

    @Test
    void streamOfRequestsIsSent() {
        assertThat(answers(result("sum", "1", "2", "39"))).containsExactly("42");
        assertThat(answers(result("sum"))).containsExactly("0");
    }

    @Test
    void bothStreamsWorkTogether() {
        assertThat(answers(result("echo", "\"a\"", "\"b\""))).containsExactly("\"aa\"", "\"bb\"");
    }

    @Test
    void endlessStreamIsCutAndCancelledOnTheServer() throws Exception {
        JsonNode result = post(Consoles.call("endless", ",\"maxMessages\":7", new String[0]))
                .json();

        assertThat(answers(result)).hasSize(7);
        assertThat(result.path("cut").asString()).contains("7 answers");
        assertThat(result.path("code").asString()).isEqualTo("CANCELLED");
        assertThat(result.path("executed").asString()).isEqualTo("YES");
        assertThat(there.getBean(ShopApplication.Sales.class).cancelled.await(60, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void answerOfEightMegabytesIsCut() {
        JsonNode result = result("large", "[8388608]");

        assertThat(answers(result)).isEmpty();
        assertThat(result.path("cut").asString()).contains("1048576 bytes");
    }

    @Test
    void answersAreCutByTheirBytesAndNotByTheirCharacters() {
        String text = "\"" + "é".repeat(100_000) + "\"";

        JsonNode result = result("echo", text, text, text); // the method "echo" answers each text with the text twice

        assertThat(answers(result)).hasSize(2);
        assertThat(result.path("cut").asString()).contains("1048576 bytes");
    }

    @Test
    void hangingMethodEndsAtItsDeadline() {
        JsonNode result = post(Consoles.call("hang", ",\"timeoutMillis\":200", new String[0]))
                .json();

        assertThat(result.path("code").asString()).isEqualTo("DEADLINE_EXCEEDED");
        assertThat(result.path("executed").asString()).isEqualTo("MAYBE");
        assertThat(result.path("message").asString()).contains("Shop/hang was still running after");
    }

    private CompletableFuture<Http.Answer> begun(Http to, String method, String id) {
        String body = Consoles.call(method, ",\"timeoutMillis\":60000,\"id\":\"" + id + "\"", new String[0]);
        return CompletableFuture.supplyAsync(
                () -> to.call(Consoles.PATH + "/call", body), task -> new Thread(task).start());
    }

    private static JsonNode stopped(Http to, String id) {
        String body = "{\"id\":\"" + id + "\"}";
        JsonNode told = to.call(Consoles.PATH + "/stop", body).json();
        while (!told.path("stopped").asBoolean()) { // Waits until the call has begun.
            assertThat(told.path("version").asInt()).isEqualTo(1);
            told = to.call(Consoles.PATH + "/stop", body).json();
        }
        return told;
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void stoppedCallsEndAlthoughNoOtherCallMayBegin(WebApplicationType web) throws Exception {
        try (ConfigurableApplicationContext other = Consoles.start(web, Consoles.SHOWN, Consoles.CALLS)) {
            Http to = Http.of(other);
            List<CompletableFuture<Http.Answer>> calls = IntStream.range(0, ConsoleTickets.MAX_CALLS)
                    .mapToObj(i -> begun(to, i == 0 ? "slowly" : "hang", "call-" + i))
                    .toList();
            RpcServer server = other.getBean(RpcServer.class);
            while (server.inFlight() < ConsoleTickets.MAX_CALLS) {
                Thread.onSpinWait();
            }
            assertThat(other.getBean(ShopApplication.Sales.class).slow.await(60, TimeUnit.SECONDS))
                    .isTrue();

            for (int i = 0; i < calls.size(); i++) {
                stopped(to, "call-" + i);
                JsonNode result = calls.get(i).get(60, TimeUnit.SECONDS).json();
                assertThat(result.path("code").asString()).isEqualTo("CANCELLED");
                assertThat(result.path("message").asString()).contains("stopped in the console");
            }
            JsonNode stream = calls.get(0).get().json();
            assertThat(answers(stream)).containsExactly("1");
            assertThat(stream.path("cut").asString()).contains("stopped in the console after 1 answers");
            assertThat(stream.path("executed").asString()).isEqualTo("YES");
            assertThat(calls.get(1).get().json().path("executed").asString()).isEqualTo("MAYBE");
            assertThat(other.getBean(ShopApplication.Sales.class).cancelled.await(60, TimeUnit.SECONDS))
                    .isTrue();
            other.getBean(ShopApplication.Sales.class).release.countDown();
        }
    }

    @Test
    void stopOfAnUnknownCallStopsNothing() {
        assertThat(http.call(Consoles.PATH + "/stop", "{\"id\":\"nobody\"}")
                        .json()
                        .path("stopped")
                        .asBoolean())
                .isFalse();
        assertThat(http.call(Consoles.PATH + "/stop", "{}").status()).isEqualTo(400);
        assertThat(http.call(Consoles.PATH + "/stop", "{").status()).isEqualTo(400);
        assertThat(http.get(Consoles.PATH + "/stop").status()).isEqualTo(405);
    }

    @Test
    void declaredExceptionHasItsClass() {
        JsonNode result = result("sell", "[\"<b>pen</b>\"]");

        assertThat(result.path("exception").asString()).isEqualTo(Shop.SoldOutException.class.getName());
        assertThat(result.path("message").asString()).isEqualTo("<b>pen</b> is sold out");
        assertThat(result.path("executed").asString()).isEqualTo("YES");
    }

    @Test
    void wrongJsonIsRefusedWithItsPlace() {
        for (Map.Entry<String, String> wrong : Map.of(
                        "[\"a\",,]", "messages[0] is not JSON",
                        "[\"a\"", "messages[0] is not JSON",
                        "", "messages[0] is empty",
                        "[\"a\"] 5", "messages[0] continues after its end, at line 1, column",
                        "{\"name\":1,\"name\":2}", "messages[0] is not JSON")
                .entrySet()) {
            Http.Answer answer = post(Consoles.call("greet", wrong.getKey()));

            assertThat(answer.status()).as(wrong.getKey()).isEqualTo(400);
            assertThat(answer.json().path("error").asString()).contains(wrong.getValue());
        }
        assertThat(post(Consoles.call("sum", "1", "]")).json().path("error").asString())
                .contains("messages[1] is not JSON", "line 1, column 1");
    }

    @Test
    void argumentOfTheWrongTypeIsRefusedWithItsPathAndNotExecuted() {
        JsonNode result = result("place", "[{\"number\": \"many\"}, 1]");

        assertThat(result.path("code").asString()).isEqualTo("INVALID_ARGUMENT");
        assertThat(result.path("executed").asString()).isEqualTo("NO");
        assertThat(result.path("message").asString()).contains("parameter 1 (order)", "$.number");
    }

    @Test
    void wrongMessageOfAStreamIsNamed() {
        JsonNode result = result("sum", "1", "\"two\"");

        assertThat(result.path("code").asString()).isEqualTo("INVALID_ARGUMENT");
        assertThat(result.path("message").asString()).contains("messages[1]");
    }

    @Test
    void wrongRequestsAreRefusedWithAReason() {
        for (Map.Entry<String, String> wrong : Map.of(
                        "",
                        "not JSON",
                        "[]",
                        "not a JSON object",
                        "{\"service\":\"x\",\"method\":\"y\"}",
                        "service x is not exported here; exported services:",
                        "{\"service\":\"" + Shop.class.getName() + "\",\"method\":\"nothing\"}",
                        "no method nothing",
                        "{\"method\":\"y\"}",
                        "no service",
                        Consoles.call("greet", ",\"timeoutMillis\":60001", new String[] {"[1]"}),
                        "timeoutMillis is 60001",
                        Consoles.call("greet", ",\"maxMessages\":0", new String[] {"[1]"}),
                        "maxMessages is 0",
                        Consoles.call("greet", ",\"headers\":{\"a b\":\"c\"}", new String[] {"[1]"}),
                        "the header",
                        Consoles.call("greet", ",\"surprise\":1", new String[] {"[1]"}),
                        "unknown member surprise",
                        Consoles.call("greet"),
                        "takes 1 arguments, but messages is empty")
                .entrySet()) {
            Http.Answer answer = post(wrong.getKey());

            assertThat(answer.status()).as(wrong.getKey()).isEqualTo(400);
            assertThat(answer.json().path("error").asString()).contains(wrong.getValue());
        }
    }

    @Test
    void sameRequestNeverRunsTwice() {
        ShopApplication.Sales sales = there.getBean(ShopApplication.Sales.class);
        String body = Consoles.call("greet", ",\"id\":\"press-1\"", new String[] {"[\"twice\"]"});
        int before = sales.greeted.get();

        Http.Answer first = post(body);
        Http.Answer second = post(body);

        assertThat(first.json().path("id").asString()).isEqualTo("press-1");
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.json().path("repeated").asBoolean()).isTrue();
        assertThat(sales.greeted.get() - before).isEqualTo(1);
    }

    @Test
    void requestForAnEarlierProcessIsRefused() {
        Http.Answer answer = post(Consoles.call("greet", ",\"instance\":\"before\"", new String[] {"[\"late\"]"}));

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().path("restarted").asBoolean()).isTrue();
        String now = http.get(Consoles.PATH + "/now").json().path("instance").asString();
        assertThat(post(Consoles.call("greet", ",\"instance\":\"" + now + "\"", new String[] {"[\"x\"]"}))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void requestAboveOneMegabyteIsRefused() {
        String large = "x".repeat(CallRequest.MAX_BYTES);

        assertThat(post(Consoles.call("greet", "[\"" + large + "\"]")).status()).isEqualTo(413);
        assertThat(answers(result("greet", "[\"" + "x".repeat(900_000) + "\"]")).get(0))
                .hasSizeGreaterThan(900_000);
    }

    @Test
    void atMostFourCallsRunAtOnce() throws Exception {
        String body = Consoles.call("hang", ",\"timeoutMillis\":60000", new String[0]);
        try (ConfigurableApplicationContext other =
                Consoles.start(WebApplicationType.SERVLET, Consoles.SHOWN, Consoles.CALLS)) {
            Http to = Http.of(other);
            ShopApplication.Sales sales = other.getBean(ShopApplication.Sales.class);
            List<CompletableFuture<Http.Answer>> calls = IntStream.range(0, 4)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> to.call(Consoles.PATH + "/call", body), task -> new Thread(task).start()))
                    .toList();
            RpcServer server = other.getBean(RpcServer.class);
            while (server.inFlight() < 4) {
                Thread.onSpinWait();
            }

            Http.Answer fifth = to.call(Consoles.PATH + "/call", Consoles.call("greet", "[\"x\"]"));

            assertThat(fifth.status()).isEqualTo(409);
            assertThat(fifth.json().path("error").asString()).contains("4 of 4 calls");
            sales.release.countDown();
            for (CompletableFuture<Http.Answer> call : calls) {
                assertThat(call.get(60, TimeUnit.SECONDS)
                                .json()
                                .path("answers")
                                .get(0)
                                .asString())
                        .isEqualTo("\"late\"");
            }
            assertThat(to.call(Consoles.PATH + "/call", Consoles.call("greet", "[\"x\"]"))
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void callsAreCountedLikeAllOthers() {
        result("page", "[1]");

        RpcMeters meters = there.getBean(RpcMeters.class);
        assertThat(meters.servedMethods())
                .filteredOn(method -> method.method().equals("page"))
                .singleElement()
                .satisfies(method -> assertThat(
                                method.lastMinute(meters.servedWindow().second())
                                        .calls())
                        .isEqualTo(1));
        assertThat(http.get(Consoles.PATH + "/outgoing")
                        .json()
                        .path("callers")
                        .get(0)
                        .path("caller")
                        .asString())
                .isEqualTo("127.0.0.1");
    }
}
