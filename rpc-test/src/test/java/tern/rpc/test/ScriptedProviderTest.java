package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tools.jackson.databind.json.JsonMapper;

/** Tests every kind of script step over a real socket, with every protocol. */
@Timeout(120)
class ScriptedProviderTest {

    @RegisterExtension
    static final ScriptedProvider provider = ScriptedProvider.of(Shop.class);

    private final EventLoops loops = EventLoops.start(1);
    private final RpcClient client = client();

    private RpcClient client() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        TripleCodecs codecs =
                new TripleCodecs(serializer, new JsonCodec(JsonMapper.builder().build()), 0);
        ClientTransportSettings usual = ClientTransportSettings.named("test");
        // With this short reconnect delay, the client finds the reopened port during the test.
        ClientTransportSettings settings = usual.withReconnect(usual.reconnectMin(), usual.reconnectMin());
        return RpcClient.builder()
                .transport(new NettyClientTransport(settings, loops, new DubboProtocol(serializer, 0)))
                .transport(new NettyClientTransport(settings, loops, new TripleClientProtocol(codecs)))
                .transport(new NettyClientTransport(settings, loops, new Http1ClientProtocol(codecs)))
                .timeout(Duration.ofSeconds(30))
                .build();
    }

    @AfterEach
    void close() {
        client.close();
        loops.close();
    }

    private Shop shop(String protocol) {
        return client.refer(ServiceReference.to(
                        Shop.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", provider.port()))))
                .protocol(protocol)
                .check(true)
                .build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void stepsAreTakenInTurnAndTheLastIsRepeated(String protocol) {
        provider.on("price")
                .answer(1)
                .answerWith(arguments -> arguments.get(0).toString().length());

        Shop shop = shop(protocol);

        assertThat(shop.price("tea")).isEqualTo(1);
        assertThat(shop.price("coffee")).isEqualTo(6);
        assertThat(shop.price("milk")).isEqualTo(4);
        provider.assertCalled("price", 3);
        provider.assertScriptDone();
        assertThat(provider.calls("price")).extracting(SeenCall::toString).contains("price(coffee)");
        assertThat(provider.calls()).extracting(SeenCall::protocol).containsOnly(protocol);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void futuresAreAnsweredWithTheirValue(String protocol) throws Exception {
        provider.on("later").answer("done");

        assertThat(shop(protocol).later().get(60, TimeUnit.SECONDS)).isEqualTo("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void refusedCallWasNotExecutedAndIsSentAgainWhereThatIsSafe(String protocol) {
        provider.on("buy").refuse();

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> shop(protocol).buy("tea"))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void statusArrives(String protocol) {
        provider.on("buy").fail(StatusCode.INVALID_ARGUMENT, "no such article");

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> shop(protocol).buy("tea"))
                .withMessageContaining("no such article");
    }

    @Test
    void providerWithoutAnInterfaceIsRefused() {
        assertThatThrownBy(() -> ScriptedProvider.of())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs at least one service interface");
    }

    @Test
    void declaredExceptionArrivesTyped() {
        provider.on("buy").fail(new SoldOut("tea is gone")).answer(true);

        Shop shop = shop("dubbo");

        assertThatExceptionOfType(SoldOut.class)
                .isThrownBy(() -> shop.buy("tea"))
                .withMessage("tea is gone");
        assertThat(catchBuy(shop)).isTrue();
    }

    private static boolean catchBuy(Shop shop) {
        try {
            return shop.buy("tea");
        } catch (SoldOut e) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void droppedConnectionMayHaveExecutedTheCallAndTheNextCallFindsAnother(String protocol) {
        provider.on("buy").drop();
        provider.on("price").drop().answer(7);

        Shop shop = shop(protocol);

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> shop.buy("tea"))
                .satisfies(e -> {
                    assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
                    assertThat(e.wasExecuted()).isEqualTo(Executed.MAYBE);
                });
        // The method is idempotent, so the client retries the call.
        assertThat(shop(protocol).price("tea")).isEqualTo(7);
        provider.assertCalled("price", 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void hangingCallEndsWithItsDeadline(String protocol) {
        provider.on("price").hang();

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> CallOptions.none()
                        .timeout(Duration.ofMillis(200))
                        .on(shop(protocol))
                        .price("tea"))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
    }

    @Test
    void delayedAnswerComesLater() {
        provider.on("price")
                .delay(Duration.ofMillis(50))
                .answer(7)
                .delay(Duration.ofMinutes(5))
                .answer(8);

        Shop shop = shop("dubbo");

        assertThat(shop.price("tea")).isEqualTo(7);
        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> CallOptions.none()
                        .timeout(Duration.ofMillis(200))
                        .on(shop)
                        .price("tea"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void refusedConnectionsAreAcceptedAgainAtTheSamePort(String protocol) {
        provider.on("price").answer(7);
        int port = provider.port();
        provider.refuseConnections();

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> shop(protocol))
                .satisfies(e -> assertThat(e.wasExecuted()).isEqualTo(Executed.NO));

        provider.acceptConnections();
        assertThat(provider.port()).isEqualTo(port);
        assertThat(shop(protocol).price("tea")).isEqualTo(7);
    }

    @Test
    void headersAreRecorded() {
        provider.on("price").answer(7);

        CallOptions.none().header("tenant", "blue").on(shop("dubbo")).price("tea");

        assertThat(provider.calls().get(0).metadata().get("tenant")).isEqualTo("blue");
    }

    @Test
    void callWithoutAScriptNamesTheMissingLine() {
        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> shop("dubbo").price("tea"))
                .withMessageContaining("provider.on(\"price\").answer(…)");
    }

    @Test
    void assertionAboutAMethodThatDoesNotExistFails() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> provider.assertCalled("prize", 0))
                .withMessageContaining("no method is called 'prize'");
    }

    @Test
    void mistakesInAScriptAreNamedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> provider.on("prize"))
                .withMessageContaining("no method is called 'prize'")
                .withMessageContaining("price");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> provider.on("price").answer("seven"))
                .withMessage("price answers with java.lang.Integer, not with java.lang.String");
    }

    @Test
    void failedAssertionsSayHowManyCallsThereWere() throws InterruptedException {
        provider.on("price").answer(7).drop();
        shop("dubbo").price("tea");

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> provider.assertCalled("price", 2))
                .withMessage("expected 2 calls of price, but there was 1: price(tea)");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(provider::assertNotCalled)
                .withMessage("expected no calls, but there were 1: price(tea)");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(provider::assertScriptDone)
                .withMessage("these steps were not reached: price: drop()");
        provider.awaitCalls("price", 1, Duration.ofSeconds(10));
    }

    @Test
    void aGroupAndAVersionAreServed() {
        try (ScriptedProvider blue = ScriptedProvider.of(Shop.class, "blue", "2.0")) {
            blue.on("price").answer(9);

            Shop shop = client.refer(ServiceReference.to(
                            Shop.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", blue.port()))))
                    .group("blue")
                    .version("2.0")
                    .build());

            assertThat(shop.price("tea")).isEqualTo(9);
            assertThat(blue.calls().get(0).service().group()).isEqualTo("blue");
        }
    }

    @Test
    void allowedClassesAreReadWhereTheInterfaceDeclaresNone() {
        try (ScriptedProvider strict = ScriptedProvider.of(Notes.class);
                ScriptedProvider allowing =
                        ScriptedProvider.allowing(Note.class.getName()).of(Notes.class)) {
            strict.on("write").answer(true);
            allowing.on("write").answer(true);

            assertThat(notes(allowing).write(new Note("tea"))).isTrue();
            assertThat(allowing.calls("write").get(0).arguments()).containsExactly(new Note("tea"));
            assertThatExceptionOfType(RpcException.class)
                    .isThrownBy(() -> notes(strict).write(new Note("tea")))
                    .withMessageContaining("rpc.limits.allowed-classes=" + Note.class.getName());
        }
        assertThatIllegalArgumentException().isThrownBy(() -> ScriptedProvider.allowing("*"));
    }

    private Notes notes(ScriptedProvider of) {
        return client.refer(ServiceReference.to(
                        Notes.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", of.port()))))
                .protocol("dubbo")
                .build());
    }

    public interface Notes {
        boolean write(Object note);
    }

    /** A class that the interface does not declare. */
    public record Note(String text) implements Serializable {}

    public interface Shop {
        @RpcMethod(idempotent = true)
        int price(String article);

        boolean buy(String article) throws SoldOut;

        CompletableFuture<String> later();
    }

    /** An exception that the interface declares. */
    public static final class SoldOut extends Exception {
        public SoldOut(String message) {
            super(message);
        }
    }
}
