package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.ApplicationContext;

/** Tests an application whose services are called with plain HTTP. */
class RpcHttpTest {

    private static HttpResponse<String> greet(
            ApplicationContext provider, String type, String body, String... headers) {
        String path = "/" + GreetingService.class.getName() + "/greet";
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + addressOf(provider) + path))
                .header("content-type", type)
                .POST(BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .build()
                    .send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void serviceIsCalledWithJsonAndNothingElse() {
        provider(Greeter.class).run(there -> {
            assertThat(greet(there, "application/json", "\"Ada\"").body()).isEqualTo("\"Hello Ada\"");
            assertThat(greet(there, "text/plain", "Ada").statusCode()).isEqualTo(415);
            assertThat(greet(there, "application/x-www-form-urlencoded", "name=Ada")
                            .statusCode())
                    .isEqualTo(415);
            assertThat(greet(there, "application/json", "\"Ada\"", "origin", "https://shop.example")
                            .statusCode())
                    .isEqualTo(403);
        });
    }

    @Test
    void otherBodiesAreSwitchedOnByProperty() {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.http.text-bodies=true", "rpc.server.http.form-bodies=true")
                .run(there -> {
                    assertThat(greet(there, "text/plain", "Ada").body()).isEqualTo("Hello Ada");
                    assertThat(greet(there, "application/x-www-form-urlencoded", "name=Ada")
                                    .body())
                            .isEqualTo("\"Hello Ada\"");
                });
    }

    @Test
    void pagesOfNamedSitesMayCall() {
        provider(Greeter.class)
                .withPropertyValues(
                        "rpc.server.cors.allowed-origins=https://shop.example, http://localhost:3000",
                        "rpc.server.cors.allow-credentials=true")
                .run(there -> {
                    HttpResponse<String> answer =
                            greet(there, "application/json", "\"Ada\"", "origin", "http://localhost:3000");

                    assertThat(answer.body()).isEqualTo("\"Hello Ada\"");
                    assertThat(answer.headers().firstValue("access-control-allow-origin"))
                            .hasValue("http://localhost:3000");
                    assertThat(answer.headers().firstValue("access-control-allow-credentials"))
                            .hasValue("true");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "shop.example | false | 10m | rpc.server.cors.allowed-origins is [shop.example]; expected sites with scheme",
                "* | true | 10m | rpc.server.cors.allow-credentials is true; expected false where",
                "* | false | -1s | rpc.server.cors.max-age is -1s; expected 0 or more"
            })
    void settingsThatContradictEachOtherStopTheStart(String origins, boolean credentials, String age, String message) {
        provider(Greeter.class)
                .withPropertyValues(
                        "rpc.server.cors.allowed-origins=" + origins,
                        "rpc.server.cors.allow-credentials=" + credentials,
                        "rpc.server.cors.max-age=" + age)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining(message));
    }
}
