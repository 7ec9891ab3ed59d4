package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import shop.ShopApplication;

/**
 * Tests requests that a page on another site could send through a browser that has access to the console. None of these
 * requests may call a method.
 */
@Timeout(120)
class ForgedRequestsTest {

    private static final String CALL = Consoles.PATH + "/call";
    private static final String MARK = "X-Rpc-Console: 1";
    private static final String JSON = "Content-Type: application/json";

    private record Attempt(String name, String method, String path, String body, List<String> headers) {}

    private final List<Attempt> attempts = new ArrayList<>();
    private final String body = Consoles.call("greet", "[\"Ann\"]");

    private void post(String name, String... headers) {
        attempts.add(new Attempt(name, "POST", CALL, body, List.of(headers)));
    }

    private void other(String method, String path, String... headers) {
        attempts.add(
                new Attempt(method + " " + path, method, path, method.equals("GET") ? "" : body, List.of(headers)));
    }

    private List<Attempt> attempts(Http http) {
        String own = "Origin: " + http.origin();
        post("other origin", MARK, JSON, "Origin: http://evil.example");
        post("origin null", MARK, JSON, "Origin: null");
        post("empty origin", MARK, JSON, "Origin: ");
        post("other port", MARK, JSON, "Origin: http://localhost:1");
        post("no port", MARK, JSON, "Origin: http://localhost");
        post("prefix of the host", MARK, JSON, "Origin: http://localhost.evil.example:" + http.port());
        post("host as user", MARK, JSON, "Origin: http://localhost:" + http.port() + "@evil.example");
        post("origin with a path", MARK, JSON, own + "/x");
        post("two origins", MARK, JSON, own, "Origin: http://evil.example");
        post("two origins in one", MARK, JSON, own + ", http://evil.example");
        post("other scheme of address", MARK, JSON, "Origin: file://localhost:" + http.port());
        post("no mark", JSON, own);
        post("mark twice", MARK, MARK, JSON, own);
        post("other mark", "X-Rpc-Console: true", JSON, own);
        post("form", MARK, "Content-Type: application/x-www-form-urlencoded", own);
        post("multipart", MARK, "Content-Type: multipart/form-data; boundary=x", own);
        post("plain text", MARK, "Content-Type: text/plain", own);
        post("text that names JSON", MARK, "Content-Type: text/plain; application/json", own);
        post("no type", MARK, own);
        post("two types", MARK, JSON, "Content-Type: text/plain", own);
        post("request from another site", MARK, JSON, "Sec-Fetch-Site: cross-site");
        post("request from a neighbour", MARK, JSON, own, "Sec-Fetch-Site: same-site");
        post(
                "forwarded host without a proxy",
                MARK,
                JSON,
                "Origin: http://evil.example",
                "X-Forwarded-Host: evil.example");
        post("simple request", "Content-Type: text/plain", "Origin: http://evil.example");
        post("zipped", MARK, JSON, own, "Content-Encoding: gzip");
        other("GET", CALL, MARK, own);
        other("GET", CALL + "?ticket=x&service=shop.Shop&method=greet", MARK, own);
        other("HEAD", CALL, MARK, own);
        other("OPTIONS", CALL, MARK, own, "Access-Control-Request-Method: POST");
        other("PUT", CALL, MARK, JSON, own);
        other("PATCH", CALL, MARK, JSON, own);
        other("DELETE", CALL, MARK, JSON, own);
        other("POST", Consoles.PATH, MARK, JSON, own);
        other("POST", Consoles.PATH + "/now", MARK, JSON, own);
        other("POST", Consoles.PATH + "/stop", JSON, "Origin: http://evil.example");
        other("POST", CALL + ";x=1", JSON);
        other("POST", "/actuator//rpc-console/call", JSON);
        other("POST", "/actuator/rpc-console;x=1/call", JSON);
        other("POST", "/actuator/rpc%2Dconsole/call", JSON);
        other("POST", "/actuator/x/../rpc-console/call", JSON);
        attempts.add(new Attempt("made-up ticket", "POST", CALL, "{\"ticket\":\"00\"}", List.of(JSON)));
        return attempts;
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void forgedRequestsCallNothing(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web, Consoles.SHOWN, Consoles.CALLS)) {
            Http http = Http.of(there);
            ShopApplication.Sales sales = there.getBean(ShopApplication.Sales.class);

            for (Attempt attempt : attempts(http)) {
                Http.Answer answer = http.send(
                        attempt.method(),
                        attempt.path(),
                        attempt.body(),
                        attempt.headers().toArray(String[]::new));

                assertThat(sales.greeted).as(attempt.name()).hasValue(0);
                if (!attempt.method().equals("OPTIONS")) {
                    assertThat(answer.status()).as(attempt.name()).isGreaterThanOrEqualTo(400);
                }
                assertThat(answer.all("Access-Control-Allow-Origin")).isEmpty();
            }

            assertThat(attempts).hasSizeGreaterThan(20);
            assertThat(http.call(CALL, body).status()).isEqualTo(200);
            assertThat(sales.greeted).hasValue(1);
        }
    }
}
