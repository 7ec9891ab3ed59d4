package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests strings that would be interpreted as markup or scripts in an HTML page. The console's JSON must contain them as
 * plain data.
 */
@Timeout(120)
class ForeignTextTest {

    private static final List<String> TEXTS = List.of(
            "<script>alert(1)</script>",
            "</script><script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)>",
            "\"><b>x</b>",
            "'><b>x</b>",
            "javascript:alert(1)",
            "<a href=javascript:alert(1)>x</a>",
            "<iframe srcdoc='<script>alert(1)</script>'>",
            "<style>@import 'http://evil.example'</style>",
            "<meta http-equiv=refresh content='0;url=http://evil.example'>",
            "<base href=http://evil.example>",
            "<!--<script>",
            "]]><script>alert(1)</script>",
            "{{constructor.constructor('alert(1)')()}}",
            "${alert(1)}",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "\u2028alert(1)\u2029",
            "\u202Eevil",
            "<math><mtext><script>alert(1)</script>",
            "<template><script>alert(1)</script></template>",
            "data:text/html,<script>alert(1)</script>");

    private final JsonMapper json = JsonMapper.builder().build();

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void foreignTextsStayData(WebApplicationType web) {
        try (ConfigurableApplicationContext there = Consoles.start(
                web,
                Consoles.SHOWN,
                Consoles.CALLS,
                "spring.application.name=<script>alert(1)</script>",
                "rpc.gateway.url=<script>alert(1)</script>")) {
            Http http = Http.of(there);
            for (String text : TEXTS) {
                String argument = json.writeValueAsString(List.of(text));

                Http.Answer result = http.call(
                        Consoles.PATH + "/call",
                        json.writeValueAsString(
                                Map.of("service", "shop.Shop", "method", "greet", "messages", List.of(argument))));

                checkIsData(result, text);
                assertThat(json.readTree(result.json().path("answers").get(0).asString())
                                .asString())
                        .isEqualTo("Hello " + text);
                checkIsData(
                        wrong(
                                http,
                                json.createObjectNode()
                                        .put("service", text)
                                        .put("method", "x")
                                        .toString()),
                        text);
                checkIsData(
                        wrong(
                                http,
                                json.createObjectNode()
                                        .put("service", "shop.Shop")
                                        .put("method", text)
                                        .toString()),
                        text);
                checkIsData(wrong(http, json.createObjectNode().put(text, 1).toString()), text);
            }
            checkIsData(http.get(Consoles.PATH + "/now"), "application");
            checkIsData(http.get(Consoles.PATH + "/settings"), "settings");
            checkIsData(http.get(Consoles.PATH + "/%3Cscript%3Ealert(1)%3C/script%3E"), "path");
            Http.Answer report = http.get(Consoles.PATH + "/report");
            assertThat(report.header("Content-Type")).startsWith("text/plain");
            assertThat(report.header("X-Content-Type-Options")).isEqualTo("nosniff");
        }
    }

    private static Http.Answer wrong(Http http, String body) {
        Http.Answer answer = http.call(Consoles.PATH + "/call", body);
        assertThat(answer.status()).isEqualTo(400);
        return answer;
    }

    private static void checkIsData(Http.Answer answer, String what) {
        if (answer.bytes().length > 0 && answer.status() != 404) {
            assertThat(answer.header("Content-Type")).as(what).startsWith("application/json");
        }
        assertThat(answer.header("X-Content-Type-Options")).as(what).isEqualTo("nosniff");
        assertThat(answer.text()).as(what).doesNotContain("<", ">");
    }
}
