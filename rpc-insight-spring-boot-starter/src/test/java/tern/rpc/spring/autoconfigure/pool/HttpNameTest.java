package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpNameTest {

    @ParameterizedTest
    @CsvSource({
        "http://stock:8080/levels/7, GET stock:8080/levels",
        "http://stock/levels, GET stock:80/levels",
        "https://api.example.com/orders?id=7, GET api.example.com:443/orders",
        "https://api.example.com, GET api.example.com:443",
        "http://[::1]:8080/levels, GET [::1]:8080/levels",
        "https://[::1]/levels, GET [::1]:443/levels"
    })
    void nameAlwaysContainsThePort(URI address, String name) {
        assertThat(HttpName.of("GET", address)).isEqualTo(name);
    }
}
