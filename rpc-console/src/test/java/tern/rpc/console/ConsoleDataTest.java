package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import shop.ShopApplication;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tools.jackson.databind.JsonNode;

/** Tests the data that the console shows, and console calls that the server refuses. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleDataTest {

    private ConfigurableApplicationContext there;
    private Http http;

    @Configuration(proxyBeanMethods = false)
    static class Guard {

        @Bean
        RpcAuthorizer guard() {
            return call -> {
                if (call.method().equals("forget")) {
                    throw new RpcException(StatusCode.PERMISSION_DENIED, "nobody may forget");
                }
                return null;
            };
        }
    }

    @BeforeAll
    void start() {
        there = Consoles.start(
                WebApplicationType.SERVLET,
                List.of(ShopApplication.class, Guard.class),
                Consoles.SHOWN,
                Consoles.CALLS,
                "rpc.slo.latency=1ms",
                "rpc.server.token=secret-token-of-the-shop-0123456789",
                "rpc.client.services.depot.url=zookeeper://ann:pass-word@127.0.0.1:1");
        http = Http.of(there);
    }

    @AfterAll
    void stop() {
        there.getBean(ShopApplication.Sales.class).release.countDown();
        there.close();
    }

    private JsonNode get(String name) {
        Http.Answer answer = http.get(Consoles.PATH + "/" + name);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private JsonNode call(String method, String token, String... messages) {
        String headers = ",\"timeoutMillis\":1000,\"headers\":{\"authorization\":\"Bearer " + token + "\"}";
        return http.call(Consoles.PATH + "/call", Consoles.call(method, headers, messages))
                .json();
    }

    private JsonNode method(String name) {
        return method("shop.Shop", name);
    }

    private JsonNode method(String key, String name) {
        return get("services")
                .path("services")
                .valueStream()
                .filter(service -> service.path("key").asString().equals(key))
                .flatMap(service -> service.path("methods").valueStream())
                .filter(method -> method.path("name").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String kinds(JsonNode type) {
        if (type.isNull() || type.isMissingNode()) {
            return "";
        }
        String of = kinds(type.path("of"));
        return type.path("kind").asString() + (of.isEmpty() ? "" : "<" + of + ">");
    }

    @Test
    void callsOfTheConsoleNeedTheTokenToo() {
        assertThat(call("greet", "wrong", "[\"x\"]").path("code").asString()).isEqualTo("UNAUTHENTICATED");
        JsonNode result = call("greet", "secret-token-of-the-shop-0123456789", "[\"x\"]");
        assertThat(result.path("code").asString()).isEqualTo("OK");
        assertThat(result.toString()).doesNotContain("secret-token");
    }

    @Test
    void authorizerRefusesCallsOfTheConsole() {
        JsonNode result = call("forget", "secret-token-of-the-shop-0123456789");

        assertThat(result.path("code").asString()).isEqualTo("PERMISSION_DENIED");
        assertThat(result.path("executed").asString()).isEqualTo("NO");
        assertThat(result.path("message").asString()).contains("nobody may forget");
    }

    @Test
    void methodsHaveTheirTypesAndExamples() {
        JsonNode place = method("place");
        assertThat(place.path("type").asString()).isEqualTo("UNARY");
        assertThat(place.path("parameters").get(0).path("name").asString()).isEqualTo("order");
        assertThat(place.path("parameters").get(0).path("type").path("ref").asString())
                .isEqualTo("shop.Shop$Order");
        assertThat(place.path("wire").path("http").asString()).isEqualTo("POST /shop.Shop/place");
        assertThat(place.path("wire").path("dubbo").asString()).isEqualTo("shop.Shop#place(shop.Shop$Order,int)");
        assertThat(place.path("example").get(0).path("the-day").asString()).isEqualTo("2026-01-31");

        JsonNode types = get("services").path("types");
        assertThat(types.path("shop.Shop$Order")
                        .path("fields")
                        .valueStream()
                        .map(field -> field.path("name").asString() + " " + kinds(field.path("type"))))
                .containsExactlyInAnyOrder(
                        "number integer",
                        "items map<object>",
                        "the-day date",
                        "at instant",
                        "within duration",
                        "receipt bytes");
        assertThat(types.path("shop.Shop$Size").path("values").valueStream().map(JsonNode::asString))
                .containsExactly("SMALL", "LARGE");
        assertThat(types.path("shop.Shop$Item")
                        .path("fields")
                        .get(3)
                        .path("type")
                        .path("of")
                        .path("ref")
                        .asString())
                .isEqualTo("shop.Shop$Item");
        assertThat(method("page").path("result").path("ref").asString()).isEqualTo("shop.Shop$Page<shop.Shop$Item>");
        assertThat(kinds(method("sorted").path("parameters").get(0).path("type")))
                .isEqualTo("list<string>");
        assertThat(method("greet").path("idempotent").asBoolean()).isTrue();
    }

    @Test
    void streamsShowTheTypeOfOneMessage() {
        assertThat(method("sum").path("type").asString()).isEqualTo("CLIENT_STREAM");
        assertThat(kinds(method("sum").path("parameters").get(0).path("type"))).isEqualTo("integer");
        assertThat(method("count").path("type").asString()).isEqualTo("SERVER_STREAM");
        assertThat(kinds(method("count").path("result"))).isEqualTo("integer");
        assertThat(method("echo").path("type").asString()).isEqualTo("BIDI_STREAM");
    }

    @Test
    void methodOnBytesSaysThatItCannotBeCalled() {
        JsonNode check = method("grpc.health.v1.Health", "Check");
        JsonNode types = get("services").path("types");
        String request =
                check.path("parameters").get(0).path("type").path("ref").asString();

        JsonNode result = http.call(
                        Consoles.PATH + "/call",
                        "{\"service\":\"grpc.health.v1.Health\",\"method\":\"Check\",\"messages\":[\"[{}]\"]}")
                .json();

        assertThat(check.path("note").asString()).isEqualTo(ServiceCatalog.RAW);
        assertThat(types.has(request)).isFalse();
        assertThat(result.path("error").asString()).isEqualTo(ServiceCatalog.RAW);
    }

    @Test
    void overloadsHaveTheirOwnPaths() {
        assertThat(httpPaths("overloaded").map(JsonNode::asString))
                .containsExactlyInAnyOrder("POST /shop.Shop/overloaded~S", "POST /shop.Shop/overloaded~i");
    }

    @Test
    void overloadsWithTheSamePathHaveNone() {
        assertThat(httpPaths("similar")).hasSize(2).allMatch(JsonNode::isNull);
    }

    private Stream<JsonNode> httpPaths(String method) {
        return get("services")
                .path("services")
                .valueStream()
                .flatMap(service -> service.path("methods").valueStream())
                .filter(found -> found.path("name").asString().equals(method))
                .map(found -> found.path("wire").path("http"));
    }

    @Test
    void slowCallIsKeptWithPhasesTraceAndCaller() {
        String trace = call("hang", "secret-token-of-the-shop-0123456789")
                .path("trace")
                .asString();

        JsonNode slow = get("slow")
                .path("calls")
                .valueStream()
                .filter(one -> one.path("trace").asString().equals(trace))
                .findFirst()
                .orElseThrow();
        assertThat(slow.path("method").asString()).isEqualTo("Shop.hang");
        assertThat(slow.path("code").asString()).isEqualTo("DEADLINE_EXCEEDED");
        assertThat(slow.path("protocol").asString()).isEqualTo("console");
        assertThat(slow.path("caller").asString()).isEqualTo("127.0.0.1");
        assertThat(slow.path("phases")
                        .valueStream()
                        .map(phase -> phase.path("phase").asString()))
                .contains("own");
        assertThat(method("hang").path("lastMinute").path("late").asInt()).isPositive();
        assertThat(get("now").path("failures").path("DEADLINE_EXCEEDED").asInt())
                .isPositive();
    }

    @Test
    void nowHasTargetServerPoolsAndDiagnosis() {
        JsonNode now = get("now");

        assertThat(now.path("application").asString()).isEqualTo("shop");
        assertThat(now.path("targetMillis").asDouble()).isEqualTo(1);
        assertThat(now.path("server").path("running").asBoolean()).isTrue();
        assertThat(now.path("server").path("port").asInt()).isPositive();
        assertThat(now.path("diagnosis").path("state").asString()).isNotEmpty();
        assertThat(now.path("pools").valueStream().map(pool -> pool.path("kind").asString()))
                .isNotEmpty();
        assertThat(now.path("refusals").has("queue")).isTrue();
        assertThat(get("why").path("available").asBoolean()).isTrue();
        assertThat(get("why").path("text").asString()).isNotEmpty();
    }

    @Test
    void settingsShowOriginsAndHideSecrets() {
        Http.Answer all = http.get(Consoles.PATH + "/settings");

        assertThat(all.text()).doesNotContain("secret-token", "pass-word");
        List<JsonNode> settings = all.json().path("settings").valueStream().toList();
        JsonNode token = one(settings, "rpc.server.token");
        JsonNode latency = one(settings, "rpc.slo.latency");
        JsonNode threads = one(settings, "rpc.server.threads");
        assertThat(token.path("value").asString()).isEqualTo("******");
        assertThat(latency.path("value").asString()).isEqualTo("1ms");
        assertThat(latency.path("origin").asString()).contains("rpc.slo.latency");
        assertThat(latency.path("default").asString()).isEqualTo("100ms");
        assertThat(threads.path("value").asString()).isEqualTo("200");
        assertThat(threads.path("origin").asString()).isEmpty();
        assertThat(threads.path("description").asString()).isNotEmpty();
        assertThat(http.get(Consoles.PATH + "/report").text()).doesNotContain("secret-token", "pass-word");
    }

    private static JsonNode one(List<JsonNode> settings, String name) {
        return settings.stream()
                .filter(setting -> setting.path("name").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
