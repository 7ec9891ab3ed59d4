package tern.rpc.load.gate;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import tern.rpc.waiting.WaitingReport;
import tools.jackson.core.JacksonException;

/** Reads advice and the waiting report of an application from its Actuator endpoints. Thread-safe. */
final class Actuator {

    private static final Duration CONNECT = Duration.ofSeconds(3);

    /** Long, because an overloaded application also answers these requests slowly. */
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();
    private final URI advice;
    private final URI waiting;

    /** @param base address of the endpoints, such as {@code http://host:8080/actuator} */
    Actuator(URI base) {
        String text = base.toString();
        String prefix = text.endsWith("/") ? text : text + "/";
        this.advice = URI.create(prefix + "rpc/advice");
        this.waiting = URI.create(prefix + "rpc/waiting");
    }

    /** The part of the advice endpoint's answer that is shown. */
    private record Answer(List<Advice> findings) {}

    /** Returns the findings of the application, the likeliest cause first. */
    List<Advice> advice() throws CannotRunException, InterruptedException {
        HttpResponse<String> response;
        try {
            response = http.send(request(advice), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new CannotRunException(
                    advice + " does not answer: " + e + "; --actuator is the address of the application's actuator");
        }
        if (response.statusCode() != 200) {
            throw new CannotRunException(advice + " answers with " + response.statusCode()
                    + "; expose it with management.endpoints.web.exposure.include=health,rpc, or leave --actuator out");
        }
        try {
            return List.copyOf(Json.value(response.body(), Answer.class).findings());
        } catch (JacksonException | NullPointerException e) {
            throw new CannotRunException(advice + " answers with something else than advice; --actuator is the address"
                    + " of the application's actuator");
        }
    }

    /**
     * Returns the current waits of the application's threads. The future fails if the endpoint does not answer with a
     * report.
     */
    CompletableFuture<WaitingReport> waiting() {
        return http.sendAsync(request(waiting), BodyHandlers.ofString()).thenApply(response -> {
            if (response.statusCode() != 200) {
                throw new CompletionException(new IOException(waiting + " answers with " + response.statusCode()));
            }
            return Json.value(response.body(), WaitingReport.class);
        });
    }

    private static HttpRequest request(URI address) {
        return HttpRequest.newBuilder(address)
                .timeout(ANSWER)
                .header("accept", "application/json")
                .build();
    }
}
