package tern.rpc.load.gate;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;

/** Reads an application's diagnosis from its Actuator endpoint, as text. Thread-safe. */
final class Actuator {

    private static final Duration CONNECT = Duration.ofSeconds(3);

    /**
     * The time limit for an answer. The limit is long, because an overloaded application also answers slowly when its
     * diagnosis is requested.
     */
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private static final Pattern DIAGNOSIS = Pattern.compile("(QUIET|HEALTHY|MISS)\\b.*", Pattern.DOTALL);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();
    private final URI diagnosis;

    /** @param base the address of the Actuator endpoints, such as {@code http://host:8080/actuator} */
    Actuator(URI base) {
        String text = base.toString();
        this.diagnosis = URI.create((text.endsWith("/") ? text : text + "/") + "rpc/diagnosis");
    }

    String diagnosis() throws CannotRunException, InterruptedException {
        HttpResponse<String> response;
        try {
            response = http.send(request(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new CannotRunException(
                    diagnosis + " does not answer: " + e + "; --actuator is the address of the application's actuator");
        }
        if (response.statusCode() != 200) {
            throw new CannotRunException(diagnosis + " answers with " + response.statusCode()
                    + "; expose it with management.endpoints.web.exposure.include=health,rpc, or leave --actuator out");
        }
        if (!DIAGNOSIS.matcher(response.body()).matches()) {
            throw new CannotRunException(diagnosis + " answers with something other than a diagnosis; --actuator is the"
                    + " address of the application's actuator");
        }
        return response.body();
    }

    /** Requests a diagnosis of the application's current state. The future fails if the answer is not a diagnosis. */
    CompletableFuture<String> diagnosisNow() {
        return http.sendAsync(request(), BodyHandlers.ofString()).thenApply(response -> {
            if (response.statusCode() != 200) {
                throw new CompletionException(new IOException(diagnosis + " answers with " + response.statusCode()));
            }
            return response.body();
        });
    }

    private HttpRequest request() {
        return HttpRequest.newBuilder(diagnosis)
                .timeout(ANSWER)
                .header("accept", "text/plain")
                .build();
    }
}
