package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the console behind path prefixes and proxies, on each kind of web server. */
@Timeout(300)
class ConsolePathTest {

    private static final String CALL = Consoles.call("greet", "[\"Ann\"]");

    /** The headers of a proxy that serves the application at {@code https://shop.example/inner}. */
    private static final List<String> FORWARDED =
            List.of("X-Forwarded-Proto: https", "X-Forwarded-Host: shop.example", "X-Forwarded-Prefix: /inner");

    private static String basePath(WebApplicationType web) {
        return web == WebApplicationType.SERVLET
                ? "server.servlet.context-path=/shop"
                : "spring.webflux.base-path=/shop";
    }

    private static ConfigurableApplicationContext start(WebApplicationType web, String... properties) {
        List<String> all = new ArrayList<>(List.of(Consoles.SHOWN, Consoles.CALLS));
        all.addAll(List.of(properties));
        return Consoles.start(web, all.toArray(String[]::new));
    }

    private static String[] with(List<String> headers, String... more) {
        List<String> all = new ArrayList<>(headers);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private static void works(Http http, String path, List<String> headers) {
        Http.Answer page = http.get(path, with(headers));
        Http.Answer now = http.get(path + "/now", with(headers));
        String next = now.json().path("next").asString();

        assertThat(page.header("Content-Security-Policy")).isNotNull();
        assertThat(page.text()).contains("\"rpc-console/app.js\"");
        assertThat(http.get(path + "/app.js", with(headers)).status()).isEqualTo(200);
        assertThat(now.header("Cache-Control")).isEqualTo("no-store");
        assertThat(http.get(path + "/now?since=" + next, with(headers))
                        .json()
                        .path("since")
                        .asString())
                .isEqualTo(next);
        assertThat(http.call(path + "/call", CALL, with(headers)).status()).isEqualTo(200);
        assertThat(http.send("POST", path + "/call", CALL, with(headers, "Content-Type: application/json"))
                        .status())
                .isEqualTo(403);
    }

    private static int callFrom(Http http, String path, String origin) {
        String[] headers = with(FORWARDED, "X-Rpc-Console: 1", "Content-Type: application/json", "Origin: " + origin);
        return http.send("POST", path + "/call", CALL, headers).status();
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void consoleWorksBelowTheBasePathOfTheApplication(WebApplicationType web) {
        try (ConfigurableApplicationContext there =
                start(web, basePath(web), "management.endpoints.web.base-path=/manage")) {
            works(Http.of(there), "/shop/manage/rpc-console", List.of());
            assertThat(Http.of(there).get("/manage/rpc-console").status()).isEqualTo(404);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void consoleWorksBehindAProxyThatForwardsItsHostAndPrefix(WebApplicationType web) {
        // With Spring WebFlux, requests with a forwarded prefix find no handler under an application's base path. The
        // reactive application therefore has no base path, and its endpoints are under /shop instead.
        String base =
                web == WebApplicationType.SERVLET ? basePath(web) : "management.endpoints.web.base-path=/shop/actuator";
        try (ConfigurableApplicationContext there = start(web, base, "server.forward-headers-strategy=framework")) {
            Http http = Http.of(there);
            String path = "/shop" + Consoles.PATH;

            assertThat(http.get(path, with(FORWARDED)).text()).contains("\"rpc-console/app.js\"");
            assertThat(http.get(path + "/now", with(FORWARDED)).status()).isEqualTo(200);
            assertThat(callFrom(http, path, "https://shop.example")).isEqualTo(200);
            assertThat(callFrom(http, path, "https://shop.example:8443")).isEqualTo(403);
            assertThat(callFrom(http, path, "https://attacker.example")).isEqualTo(403);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void consoleWorksOnAPortOfItsOwnBelowBasePaths(WebApplicationType web) {
        try (ConfigurableApplicationContext there = start(
                web,
                basePath(web),
                "management.server.port=0",
                "management.server.base-path=/ops",
                "management.endpoints.web.base-path=/manage")) {
            Http http = Http.ofManagement(there);
            String path = "/ops/manage/rpc-console";

            works(http, path, List.of());
            assertThat(Http.of(there).get("/shop" + Consoles.PATH).status()).isEqualTo(404);
        }
    }
}
