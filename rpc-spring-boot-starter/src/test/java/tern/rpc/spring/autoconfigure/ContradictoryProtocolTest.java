package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/** Tests references whose protocol differs from the protocol of their address. */
class ContradictoryProtocolTest {

    static class OwnUrl {
        @RpcReference(protocol = "tri", url = "dubbo://127.0.0.1:1")
        GreetingService greetings;
    }

    static class ProtocolOnly {
        @RpcReference(protocol = "tri")
        GreetingService greetings;
    }

    @Test
    void annotationWithTwoProtocolsStopsTheStart() {
        application(OwnUrl.class).run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            assertThat(failure)
                    .hasMessage("@RpcReference at " + OwnUrl.class.getName()
                            + ".greetings has the protocol tri, but its url has the protocol dubbo");
            assertThat(failure.action())
                    .isEqualTo("Remove protocol from the annotation, or let its url begin with tri://.");
        });
    }

    @Test
    void generalAddressWithAnotherProtocolStopsTheStart() {
        application(ProtocolOnly.class)
                .withPropertyValues("rpc.client.url=dubbo://127.0.0.1:1")
                .run(here -> {
                    RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
                    assertThat(failure)
                            .hasMessage("@RpcReference at " + ProtocolOnly.class.getName()
                                    + ".greetings has the protocol tri, but rpc.client.url has the protocol dubbo");
                    assertThat(failure.action()).contains("rpc.client.services.GreetingService.url");
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.client.url=127.0.0.1:1",
                "rpc.client.url=tri://127.0.0.1:1",
                "rpc.client.url=local",
                "rpc.client.services.greeting-service.url=dubbo://127.0.0.1:1"
            })
    void addressWithoutProtocolOrForThisReferenceIsAccepted(String url) {
        provider(Greeter.class, ProtocolOnly.class)
                .withPropertyValues(url)
                .run(here -> assertThat(here).hasNotFailed());
    }
}
