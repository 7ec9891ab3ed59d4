package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.PublishedToken;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.Token;

/** Tests which token a provider gets if providers publish tokens in a registry. */
class PublishedTokenTest {

    private static final Endpoint WITH = new Endpoint("with", 1);
    private static final Endpoint WITHOUT = new Endpoint("without", 1);

    public interface Service {
        void call();

        CompletableFuture<Void> later();
    }

    private final Map<Endpoint, List<String>> tokens = new ConcurrentHashMap<>();
    private volatile @Nullable Endpoint refusing;

    private final class Connection extends IdleConnection {

        Connection(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public boolean isAvailable() {
            return true;
        }

        @Override
        public void send(PendingCall call) {
            tokens.computeIfAbsent(endpoint(), unseen -> new ArrayList<>())
                    .add(String.valueOf(call.call().metadata().getAll("token")));
            if (endpoint().equals(refusing)) {
                call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.NO));
            } else {
                call.answer(Answer.NOTHING);
            }
        }
    }

    private final RpcClient client = RpcClient.builder()
            .token(Token.of("of-the-client"))
            .transport(new FakeTransport(Connection::new))
            .build();

    private final Service service = client.refer(ServiceReference.to(
                    Service.class,
                    StaticEndpoints.of(List.of(
                            new Instance(WITH, Attributes.DEFAULT.withToken(new PublishedToken("published"))),
                            Instance.of(WITHOUT))))
            .protocol("fake")
            .build());

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void providerGetsTheTokenThatItHasPublishedAndOthersGetTheTokenOfTheClient() {
        for (int i = 0; i < 20; i++) {
            service.call();
            service.later().join();
        }

        assertThat(tokens.get(WITH)).containsOnly("[published]");
        assertThat(tokens.get(WITHOUT)).containsOnly("[of-the-client]");
    }

    @Test
    void publishedTokenDoesNotReachTheProviderOfTheNextAttempt() {
        refusing = WITH;
        for (int i = 0; i < 20; i++) {
            service.call();
        }

        assertThat(tokens.get(WITH)).containsOnly("[published]");
        assertThat(tokens.get(WITHOUT)).containsOnly("[of-the-client]");
    }

    @Test
    void tokenOfACallWins() {
        Service special = CallOptions.none().header("token", "of-the-call").on(service);
        for (int i = 0; i < 20; i++) {
            special.call();
        }

        assertThat(tokens.values()).allSatisfy(shown -> assertThat(shown).containsOnly("[of-the-call]"));
    }

    @Test
    void attributesDoNotShowTheToken() {
        assertThat(Attributes.DEFAULT.withToken(new PublishedToken("published")))
                .asString()
                .doesNotContain("published")
                .contains("token=(secret)");
    }
}
