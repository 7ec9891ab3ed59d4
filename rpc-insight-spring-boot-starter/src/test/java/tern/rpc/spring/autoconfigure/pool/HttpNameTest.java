package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.jspecify.annotations.Nullable;
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

    @ParameterizedTest
    @CsvSource({
        "302, http://stock-2:81/levels/7, GET stock:80 (redirect to stock-2:81)",
        "308, https://stock-2/levels, GET stock:80 (redirect to stock-2:443)",
        "301, /levels/7, GET stock:80 (redirect to stock:80)",
        "302, http://[, GET stock:80 (redirect to stock:80)",
        "302, , GET stock:80",
        "201, http://stock/levels/7, GET stock:80",
        "503, http://stock/levels/7, GET stock:80 (503)"
    })
    void nameOfARedirectedExchangeContainsTheNextAddress(int status, @Nullable String location, String name) {
        assertThat(HttpName.of("GET stock:80", status, location, "stock:80")).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 200, GET stock:80",
        "1, 200, GET stock:80 (redirect to stock-2:80)",
        "3, 200, GET stock:80 (3 redirects to stock-2:80)",
        "3, 503, GET stock:80 (503)"
    })
    void redirectsThatTheClientFollowsAreCounted(int times, int status, String name) {
        assertThat(HttpName.redirected("GET stock:80", status, times, URI.create("http://stock-2/levels")))
                .isEqualTo(name);
    }
}
