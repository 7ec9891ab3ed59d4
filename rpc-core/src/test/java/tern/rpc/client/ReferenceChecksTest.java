package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.StaticEndpoints;

/** Tests which references a client rejects. */
class ReferenceChecksTest extends ScriptedProviders {

    /** A service with an overloaded method. Only one overload has the parameter {@code b}. */
    public interface Overloaded {
        void add(int a);

        void add(int a, int b);
    }

    @Test
    void hashKeyThatOneOverloadLacksIsRefusedWithTheReason() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Overloaded.class, new StaticEndpoints(List.of(ONE)))
                        .protocol("fake")
                        .method("add", MethodSettings.NONE.withHashKey("b"))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("an overload of ")
                .hasMessageEndingWith("it has [a]; all overloads need this parameter");
    }

    @Test
    void hashKeyThatNoMethodHasIsRefused() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                        .protocol("fake")
                        .defaults(MethodSettings.NONE.withHashKey("user"))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has a parameter 'user', which its hash key names; its methods have [");
    }

    @Test
    void protocolOfDubboForTheSameProcessIsAnsweredWithLocal() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                        .protocol("injvm")
                        .build()))
                .isInstanceOf(UnknownProtocolException.class)
                .hasMessageEndingWith("; the address local is the server of the same application");
    }

    @Test
    void referenceOfAClientWithoutTransportsIsRefusedWithTheReason() {
        try (RpcClient empty = RpcClient.builder().build()) {
            assertThatThrownBy(() -> empty.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                            .protocol("fake")
                            .build()))
                    .isInstanceOf(UnknownProtocolException.class)
                    .hasMessageEndingWith(
                            "is not known; the client has no transport, so add one for this protocol to its builder");
        }
    }

    @Test
    void groupOrVersionThatStandsForSeveralIsRefused() {
        for (String several : List.of("*", "a,b")) {
            assertThatThrownBy(() -> ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                            .group(several)
                            .build())
                    .hasMessageContaining("the group '" + several + "' of the reference to ");
            assertThatThrownBy(() -> ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                            .version(several)
                            .build())
                    .hasMessageContaining("use one reference for each version");
        }
    }
}
