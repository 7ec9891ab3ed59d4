package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import shop.ShopApplication;
import tools.jackson.databind.JsonNode;

/** Tests who may view the console and make calls with it, on each kind of web server. */
@Timeout(300)
class ConsoleExposureTest {

    private static final String CALL = Consoles.call("greet", "[\"Ann\"]");
    private static final String CREDENTIALS =
            "Authorization: Basic " + Base64.getEncoder().encodeToString("ann:pw".getBytes(StandardCharsets.UTF_8));

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void consoleIsAbsentUnlessItIsExposed(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web)) {
            Http http = Http.of(there);

            assertThat(http.get(Consoles.PATH).status()).isEqualTo(404);
            assertThat(http.get(Consoles.PATH + "/now").status()).isEqualTo(404);
            assertThat(http.call(Consoles.PATH + "/call", CALL).status()).isEqualTo(404);
            assertThat(Stream.of(there.getBeanDefinitionNames())).noneMatch(name -> isOfConsole(there, name));
            assertThat(threads()).noneMatch(name -> name.contains("console"));
        }
    }

    private static boolean isOfConsole(ConfigurableApplicationContext there, String bean) {
        Class<?> type = there.getType(bean);
        return type != null
                && type.getPackageName().equals(RpcConsoleEndpoint.class.getPackageName())
                && !type.getName().contains("AutoConfiguration");
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void exposedConsoleOnlyShows(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web, Consoles.SHOWN)) {
            Http http = Http.of(there);

            for (String name : List.of("now", "services", "slow", "why", "outgoing", "settings")) {
                Http.Answer answer = http.get(Consoles.PATH + "/" + name);
                assertThat(answer.status()).as(name).isEqualTo(200);
                assertThat(answer.json().path("version").asInt()).isEqualTo(1);
                assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
            }
            assertThat(http.get(Consoles.PATH + "/now").json().path("canCall").asBoolean())
                    .isFalse();
            assertThat(http.get(Consoles.PATH + "/now")
                            .json()
                            .path("cannotCallWhy")
                            .asString())
                    .contains("management.endpoint.rpc-console.access=unrestricted");
            assertThat(http.call(Consoles.PATH + "/call", CALL).status()).isEqualTo(405);
            assertThat(http.get(Consoles.PATH + "/call").status()).isEqualTo(405);
            assertThat(http.get(Consoles.PATH + "/nothing").status()).isEqualTo(404);
            assertThat(http.get(Consoles.PATH + "/").status()).isEqualTo(404);
            assertThat(http.get(Consoles.PATH + "/..%2fapplication.properties").status())
                    .isBetween(400, 404);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void unrestrictedConsoleCalls(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web, Consoles.SHOWN, Consoles.CALLS)) {
            Http http = Http.of(there);

            Http.Answer answer = http.call(Consoles.PATH + "/call", CALL);

            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            assertThat(answer.json().path("answers").get(0).asString()).isEqualTo("\"Hello Ann\"");
            assertThat(http.get(Consoles.PATH + "/now").json().path("canCall").asBoolean())
                    .isTrue();
            assertThat(http.call(Consoles.PATH + "/call", "x".repeat(CallRequest.MAX_BYTES + 1))
                            .status())
                    .isEqualTo(413);
            assertThat(http.call(Consoles.PATH + "/call", Consoles.call("greet", "[\"" + "x".repeat(900_000) + "\"]"))
                            .status())
                    .isEqualTo(200);
            assertThat(threads()).noneMatch(name -> name.contains("console"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void nowSendsOnlyPointsThatThePageDoesNotHave(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web, Consoles.SHOWN)) {
            Http http = Http.of(there);
            JsonNode first = http.get(Consoles.PATH + "/now").json();
            String next = first.path("next").asString();

            JsonNode second = http.get(Consoles.PATH + "/now?since=" + next).json();
            JsonNode foreign = http.get(Consoles.PATH + "/now?since=%3Cb%3E").json();

            assertThat(first.path("since").isNull()).isTrue();
            assertThat(second.path("since").asString()).isEqualTo(next);
            assertThat(second.propertyNames()).containsExactlyElementsOf(first.propertyNames());
            assertThat(foreign.path("since").isNull()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void pageAndFilesAreSentWithStrictHeadersAndCompressed(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(web, Consoles.SHOWN)) {
            Http http = Http.of(there);

            Http.Answer page = http.get(Consoles.PATH, "Accept: text/html");

            assertThat(page.status()).isEqualTo(200);
            assertThat(page.header("Content-Type")).isEqualToIgnoringCase("text/html;charset=UTF-8");
            assertThat(page.text()).contains("rpc-console/app.js").doesNotContain("{{", "<style", "onclick");
            int sent = 0;
            for (String name : ConsoleFiles.names()) {
                Http.Answer file = http.get(Consoles.PATH + "/" + name, "Accept-Encoding: gzip");
                assertThat(file.status()).as(name).isEqualTo(200);
                assertThat(file.header("Content-Encoding")).isEqualTo("gzip");
                assertThat(file.header("X-Content-Type-Options")).isEqualTo("nosniff");
                assertThat(http.get(Consoles.PATH + "/" + name, "If-None-Match: " + file.header("ETag"))
                                .status())
                        .isEqualTo(304);
                sent += file.bytes().length;
            }
            assertThat(sent + page.bytes().length).isLessThan(150 << 10);
            for (Http.Answer answer : List.of(page, http.get(Consoles.PATH + "/now"))) {
                assertThat(answer.header("Content-Security-Policy"))
                        .startsWith("default-src 'none'; script-src 'self';")
                        .doesNotContain("unsafe");
                assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
                assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void consoleWorksOnItsOwnPortWithAnotherPath(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(
                web,
                Consoles.SHOWN,
                Consoles.CALLS,
                "management.server.port=0",
                "management.server.base-path=/ops",
                "management.endpoints.web.base-path=/manage",
                "management.endpoints.web.path-mapping.rpc-console=shop-console")) {
            Http http = Http.ofManagement(there);

            Http.Answer page = http.get("/ops/manage/shop-console");

            assertThat(page.text()).contains("shop-console/app.js").doesNotContain("rpc-console/app.js");
            assertThat(page.header("Content-Security-Policy")).isNotNull();
            assertThat(http.get("/ops/manage/shop-console/now").status()).isEqualTo(200);
            assertThat(http.call("/ops/manage/shop-console/call", CALL).status())
                    .isEqualTo(200);
            assertThat(http.send("POST", "/ops/manage/shop-console/call", CALL, "Content-Type: application/json")
                            .status())
                    .isEqualTo(403);
            assertThat(Http.of(there).get(Consoles.PATH).status()).isEqualTo(404);
        }
    }

    @Test
    void consoleWorksBehindAContextPathAndAServletPath() {
        try (ConfigurableApplicationContext there = Consoles.start(
                WebApplicationType.SERVLET,
                Consoles.SHOWN,
                Consoles.CALLS,
                "server.servlet.context-path=/shop",
                "spring.mvc.servlet.path=/api")) {
            Http http = Http.of(there);
            String path = "/shop/api" + Consoles.PATH;

            assertThat(http.get(path).header("Content-Security-Policy")).isNotNull();
            assertThat(http.get(path + "/app.js").status()).isEqualTo(200);
            assertThat(http.call(path + "/call", CALL).status()).isEqualTo(200);
            assertThat(http.send("POST", path + "/call", CALL, "Content-Type: application/json")
                            .status())
                    .isEqualTo(403);
        }
    }

    @Test
    void proxyMayForwardHostAndPrefix() {
        try (ConfigurableApplicationContext there = Consoles.start(
                WebApplicationType.SERVLET,
                Consoles.SHOWN,
                Consoles.CALLS,
                "server.forward-headers-strategy=framework")) {
            Http http = Http.of(there);
            String[] forwarded = {
                "X-Rpc-Console: 1",
                "Content-Type: application/json",
                "Origin: https://shop.example",
                "X-Forwarded-Proto: https",
                "X-Forwarded-Host: shop.example",
                "X-Forwarded-Prefix: /inner"
            };

            assertThat(http.send("POST", Consoles.PATH + "/call", CALL, forwarded)
                            .status())
                    .isEqualTo(200);
            assertThat(http.get(Consoles.PATH, "X-Forwarded-Prefix: /inner").text())
                    .contains("rpc-console/app.js");
        }
    }

    @ParameterizedTest
    @CsvSource({"SERVLET, prod", "REACTIVE, live"})
    void productionMustAcceptCallsByName(WebApplicationType web, String profile) {
        try (ConfigurableApplicationContext there =
                Consoles.start(web, Consoles.SHOWN, Consoles.CALLS, "spring.profiles.active=" + profile)) {
            Http.Answer answer = Http.of(there).call(Consoles.PATH + "/call", CALL);

            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.json().path("error").asString())
                    .contains("The profile " + profile + " is active, and rpc.console.call-in-production");
            assertThat(there.getBean(ShopApplication.Sales.class).greeted).hasValue(0);
        }
        try (ConfigurableApplicationContext there = Consoles.start(
                web,
                Consoles.SHOWN,
                Consoles.CALLS,
                "spring.profiles.active=" + profile,
                "rpc.console.call-in-production=true")) {
            assertThat(Http.of(there).call(Consoles.PATH + "/call", CALL).status())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void springSecurityComesFirst(WebApplicationType web) {
        try (ConfigurableApplicationContext there =
                Consoles.startSecured(web, List.of(ShopApplication.class), Consoles.SHOWN, Consoles.CALLS)) {
            Http http = Http.of(there);

            assertThat(http.get(Consoles.PATH + "/now").status()).isEqualTo(401);
            assertThat(http.get(Consoles.PATH + "/app.js").status()).isEqualTo(401);
            assertThat(http.get(Consoles.PATH + "/now", CREDENTIALS).status()).isEqualTo(200);
            assertThat(http.get(Consoles.PATH, CREDENTIALS).all("X-Content-Type-Options"))
                    .containsExactly("nosniff");
            assertThat(http.call(Consoles.PATH + "/call", CALL).status()).isBetween(401, 403);
            // Spring Security refuses this request, because it does not contain Spring Security's CSRF token.
            assertThat(http.call(Consoles.PATH + "/call", CALL, CREDENTIALS).status())
                    .isBetween(401, 403);
            assertThat(there.getBean(ShopApplication.Sales.class).greeted).hasValue(0);
        }
    }

    /** Disables Spring Security's CSRF protection for the console, because the console has its own protection. */
    @Configuration(proxyBeanMethods = false)
    static class OwnProtection {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return http.authorizeHttpRequests(all -> all.anyRequest().authenticated())
                    .httpBasic(basic -> {})
                    .csrf(csrf -> csrf.ignoringRequestMatchers(Consoles.PATH + "/call"))
                    .build();
        }
    }

    @Test
    void authenticatedUserCallsWhereSpringSecurityLeavesForgedRequestsToTheConsole() {
        List<Class<?>> sources = List.of(ShopApplication.class, OwnProtection.class);
        try (ConfigurableApplicationContext there =
                Consoles.startSecured(WebApplicationType.SERVLET, sources, Consoles.SHOWN, Consoles.CALLS)) {
            Http http = Http.of(there);

            assertThat(http.call(Consoles.PATH + "/call", CALL).status()).isEqualTo(401);
            assertThat(http.call(Consoles.PATH + "/call", CALL, CREDENTIALS).status())
                    .isEqualTo(200);
        }
        try (ConfigurableApplicationContext there =
                Consoles.startSecured(WebApplicationType.SERVLET, sources, Consoles.SHOWN)) {
            assertThat(Http.of(there)
                            .call(Consoles.PATH + "/call", CALL, CREDENTIALS)
                            .status())
                    .isEqualTo(405);
        }
        try (ConfigurableApplicationContext there = Consoles.startSecured(WebApplicationType.SERVLET, sources)) {
            assertThat(Http.of(there).get(Consoles.PATH, CREDENTIALS).status()).isEqualTo(404);
        }
    }

    @Test
    void startSaysOnceThatActuatorIsMissing() {
        List<String> lines = linesOf(() -> new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RpcConsoleAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean("rpcConsoleEndpoint")));

        assertThat(lines).singleElement().asString().contains("The console is off", "needs Actuator");
    }

    @Test
    void startSaysOnceThatAWebServerIsMissing() {
        List<String> lines = linesOf(() -> new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RpcConsoleAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean(RpcConsoleEndpoint.class)));

        assertThat(lines).singleElement().asString().contains("The console is off", "needs a web server");
    }

    private static List<String> linesOf(Runnable start) {
        Logger log = (Logger) LoggerFactory.getLogger(RpcConsoleAutoConfiguration.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        try {
            start.run();
        } finally {
            log.detachAppender(lines);
            log.setLevel(null);
        }
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
