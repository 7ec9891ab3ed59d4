package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Answer;

/** Tests which application calls are sent to a failing provider to find out whether it has recovered (trials). */
class TrialCallsTest extends ScriptedProviders {

    private static final int CALLS_PER_SECOND = 10;

    private boolean fails; // whether the provider ONE fails its calls
    private Endpoint wanted = ONE; // the provider that the application's balancer chooses

    private Service proxy(Balancer.Factory policy) {
        for (Endpoint endpoint : List.of(ONE, TWO)) {
            connection(endpoint).taking = (connection, call) -> {
                asked.add(endpoint);
                if (fails && endpoint.equals(ONE)) {
                    call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
                } else {
                    call.answer(Answer.NOTHING);
                }
            };
        }
        return client.refer(reference(ONE, TWO)
                .cluster(ClusterSettings.DEFAULT.withPolicy(policy))
                .build());
    }

    /** Makes ten calls per second. Returns the providers of these calls. */
    private List<Endpoint> makeCalls(Service proxy, String key, int seconds) {
        asked.clear();
        for (int i = 0; i < seconds * CALLS_PER_SECOND; i++) {
            try {
                CallOptions.none().key(key).on(proxy).call();
            } catch (RpcException e) {
                assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
            }
            aheadNanos.addAndGet(TimeUnit.SECONDS.toNanos(1) / CALLS_PER_SECOND);
        }
        return List.copyOf(asked);
    }

    /** Returns a key whose calls consistent hashing sends to the provider. */
    private String keyOf(Endpoint provider, Service proxy) {
        for (int i = 0; ; i++) {
            if (makeCalls(proxy, "key" + i, 1).contains(provider)) {
                return "key" + i;
            }
        }
    }

    @Test
    void callsWithAKeyStayAtTheProviderOfTheKey() {
        Service proxy = proxy(Policies.named(Policies.CONSISTENT_HASH));
        String ofOne = keyOf(ONE, proxy);
        String ofTwo = keyOf(TWO, proxy);
        fails = true;
        assertThat(makeCalls(proxy, ofOne, 1)).as("calls before the ejection").contains(ONE);

        assertThat(makeCalls(proxy, ofTwo, 60)).hasSize(60 * CALLS_PER_SECOND).containsOnly(TWO);
    }

    @Test
    void balancerOfTheApplicationChoosesTheProviderOfEachCall() {
        Service proxy = proxy(candidates -> new Balancer() {
            @Override
            public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long nowNanos) {
                return candidates.stream()
                        .filter(candidate -> candidate.endpoint().equals(wanted))
                        .findFirst()
                        .orElse(null);
            }
        });
        fails = true;
        assertThat(makeCalls(proxy, "any", 1)).containsOnly(ONE);
        wanted = TWO;

        assertThat(makeCalls(proxy, "any", 60)).hasSize(60 * CALLS_PER_SECOND).containsOnly(TWO);
    }
}
