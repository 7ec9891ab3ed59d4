package tern.rpc.diagnosis.account;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationNamesTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET localhost:21300/valuation",
                "POST 127.0.0.1:8080",
                "GET 127.0.0.1:8080/rates (503)",
                "ClaimService.find at 127.0.0.1:21100",
                "Rates.of at [::1]:80"
            })
    void operationsOnLoopbackAddressesUseNoNetwork(String name) {
        assertThat(OperationNames.isLoopback(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "GET bank:80/rates", "ClaimService.find", "Rates.of at 10.127.0.1:80", "GET localhosts:80"})
    void otherOperationsMayUseTheNetwork(String name) {
        assertThat(OperationNames.isLoopback(name)).isFalse();
    }
}
