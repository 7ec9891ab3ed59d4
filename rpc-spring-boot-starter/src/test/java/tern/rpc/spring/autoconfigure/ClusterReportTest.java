package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.Objects;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint.Format;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the report at {@code /actuator/rpc/cluster}. */
class ClusterReportTest {

    private static final String CLOSED = "127.0.0.1:1";
    private static final int MAX_CALLS = 1_000;

    /** A provider that fails every call. */
    @RpcService
    static class Broken implements GreetingService {
        @Override
        public String greet(String name) {
            throw new RpcException(StatusCode.UNAVAILABLE, "broken", Executed.NO, null);
        }
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    private static ApplicationContextRunner consumer(String url) {
        return application(User.class)
                .withPropertyValues(
                        "rpc.client.url=" + url,
                        "rpc.client.load-balancing=round-robin",
                        "management.endpoints.web.exposure.include=rpc");
    }

    private static JsonNode json(ApplicationContext context) {
        Object report = Objects.requireNonNull(
                        context.getBean(RpcActuatorEndpoint.class).part("cluster", Format.JSON))
                .getBody();
        JsonMapper mapper = JsonMapper.builder().build();
        return mapper.readTree(mapper.writeValueAsString(report));
    }

    private static String text(ApplicationContext context) {
        return (String) Objects.requireNonNull(
                        context.getBean(RpcActuatorEndpoint.class).part("cluster", Format.TEXT))
                .getBody();
    }

    private static JsonNode endpoint(JsonNode report, String address) {
        return StreamSupport.stream(report.at("/references/0/endpoints").spliterator(), false)
                .filter(endpoint -> endpoint.get("address").asString().equals(address))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Calls the provider until it is ejected. The ejection begins with the last call of this method. The ejection's
     * remaining time therefore does not depend on how long the earlier calls take.
     */
    private static void callUntilEjected(AssertableApplicationContext consumer, String address) {
        GreetingService greetings = consumer.getBean(User.class).greetings;
        for (int i = 0; i < MAX_CALLS; i++) {
            try {
                greetings.greet("x");
            } catch (RpcException e) {
                if (!endpoint(json(consumer), address).get("ejectedUntil").isNull()) {
                    return;
                }
            }
        }
        throw new AssertionError(address + " is not ejected: " + text(consumer));
    }

    @Test
    void answeringEjectedAndUnreachableProvidersAreReported() {
        provider(Greeter.class)
                .run(good -> provider(Broken.class).run(broken -> {
                    String url = addressOf(good) + "," + addressOf(broken) + "," + CLOSED;
                    consumer(url).run(here -> {
                        callUntilEjected(here, addressOf(broken));

                        JsonNode report = json(here);
                        assertThat(report.at("/references/0/service").asString())
                                .isEqualTo(GreetingService.class.getName());
                        JsonNode list = report.at("/references/0/list");
                        assertThat(list.get("state").asString()).isEqualTo("FRESH");
                        assertThat(list.get("listed").asInt()).isEqualTo(3);
                        assertThat(list.get("held").asInt()).isZero();
                        JsonNode answering = endpoint(report, addressOf(good));
                        assertThat(answering.get("connection").asString()).isEqualTo("CONNECTED");
                        assertThat(answering.get("shareOfLastMinute").asDouble())
                                .isPositive();
                        assertThat(answering.get("ejectedUntil").isNull()).isTrue();
                        JsonNode ejected = endpoint(report, addressOf(broken));
                        assertThat(ejected.get("connection").asString()).isEqualTo("CONNECTED");
                        assertThat(ejected.get("ejectedWhy").asString()).isNotEmpty();
                        assertThat(ejected.get("score").asDouble())
                                .isGreaterThan(answering.get("score").asDouble());
                        JsonNode closed = endpoint(report, CLOSED);
                        assertThat(closed.get("connection").asString()).isNotEqualTo("CONNECTED");
                        assertThat(closed.get("shareOfLastMinute").asDouble()).isZero();

                        assertThat(text(here))
                                .startsWith(GreetingService.class.getName() + "\n  list: fresh since ")
                                .contains("3 providers of " + addressOf(good))
                                .containsPattern(
                                        addressOf(broken) + " +connected .* in flight; avoided until .*: .*fail")
                                .containsPattern(CLOSED + " +\\w+ +0 % of the calls, .*; .*refused");
                    });
                }));
    }

    @RpcFallback(forInterface = GreetingService.class)
    static class Politeness implements GreetingService {
        @Override
        public String greet(String name) {
            return "welcome";
        }
    }

    @Test
    void answersOfTheFallbackAreCountedApart() {
        application(User.class, Politeness.class)
                .withPropertyValues("rpc.client.url=" + CLOSED, "management.endpoints.web.exposure.include=rpc")
                .run(here -> {
                    assertThat(json(here).at("/references/0/fallbacks").asInt()).isZero();
                    assertThat(text(here)).doesNotContain("fallback");

                    here.getBean(User.class).greetings.greet("x");
                    here.getBean(User.class).greetings.greet("y");

                    JsonNode reference = json(here).at("/references/0");
                    assertThat(reference.get("fallbacks").asInt()).isEqualTo(2);
                    assertThat(reference.get("hedges").asInt()).isZero();
                    assertThat(reference.get("retries").asInt()).isZero();
                    assertThat(text(here))
                            .contains("since the start: 0 retries, 0 hedges, 2 calls answered by the fallback");
                });
    }

    @Test
    void singleProviderHasAllCalls() {
        provider(Greeter.class)
                .run(there -> consumer(addressOf(there)).run(here -> {
                    here.getBean(User.class).greetings.greet("x");

                    JsonNode only = endpoint(json(here), addressOf(there));
                    assertThat(only.get("shareOfLastMinute").asDouble()).isEqualTo(1);
                    assertThat(only.get("ejections").asInt()).isZero();
                }));
    }

    @Test
    void applicationWithoutReferencesHasAnEmptyReport() {
        provider(Greeter.class)
                .withPropertyValues("management.endpoints.web.exposure.include=rpc")
                .run(there -> {
                    assertThat(json(there).get("references").isEmpty()).isTrue();
                    assertThat(text(there)).isEqualTo("no references\n");
                });
    }
}
