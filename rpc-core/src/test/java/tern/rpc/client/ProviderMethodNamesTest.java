package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

class ProviderMethodNamesTest {

    private static final String NAME = "StockService.reserve at stock-1:20880";

    private final ProviderMethodNames names = new ProviderMethodNames("StockService.reserve");
    private final Endpoint endpoint = new Endpoint("stock-1", 20880);

    @ParameterizedTest
    @EnumSource(
            mode = Mode.INCLUDE,
            names = {"UNKNOWN", "RESOURCE_EXHAUSTED", "ABORTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
    void failureOfTheProviderIsPartOfTheName(StatusCode code) {
        assertThat(names.at(endpoint, new RpcException(code, "failed"))).isEqualTo(NAME + " (failed " + code + ")");
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"OK", "UNKNOWN", "RESOURCE_EXHAUSTED", "ABORTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
    void expectedStatusIsNoPartOfTheName(StatusCode code) {
        assertThat(names.at(endpoint, new RpcException(code, "refused"))).isEqualTo(NAME);
    }

    @Test
    void exceptionThatTheInterfaceDeclaresIsNoPartOfTheName() {
        assertThat(names.at(endpoint, new IllegalStateException("sold out"))).isEqualTo(NAME);
        assertThat(names.at(endpoint, null)).isEqualTo(NAME);
    }

    @Test
    void failureOfACallThatReachedNoProviderIsNamedToo() {
        assertThat(names.at(null, new RpcException(StatusCode.UNAVAILABLE, "no provider")))
                .isEqualTo("StockService.reserve (failed UNAVAILABLE)");
    }
}
