package tern.rpc.load.gate;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Locale;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.load.Scenario;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Calls one method with JSON, so that the gate does not need the Java interface of the service. Uses HTTP/2, or
 * HTTP/1.1 if the server does not support HTTP/2. Thread-safe.
 */
final class JsonCall implements Scenario.Call {

    private static final Duration CONNECT = Duration.ofSeconds(3);

    /** The timeout of the first call, which a newly started process may answer slowly. Later calls have a shorter
     * timeout. */
    private static final Duration FIRST_CALL = Duration.ofSeconds(10);

    private static final int MAX_TEXT = 200;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_2)
            .connectTimeout(CONNECT)
            .build();
    private final GateOptions options;
    private final URI target;

    JsonCall(GateOptions options) {
        this.options = options;
        this.target = options.server().resolve("/" + options.service() + "/" + options.method());
    }

    /** Makes the first call. If this call fails, the gate exits, because later calls would fail for the same reason. */
    void tryOnce() throws CannotRunException, InterruptedException {
        HttpResponse<String> response;
        try {
            response = http.send(request(0, FIRST_CALL), BodyHandlers.ofString());
        } catch (HttpTimeoutException e) {
            throw new CannotRunException(options.server() + " does not answer a call of " + options.name() + " within "
                    + (e instanceof HttpConnectTimeoutException ? CONNECT : FIRST_CALL).toSeconds()
                    + " s");
        } catch (ConnectException e) {
            throw new CannotRunException("nothing listens at " + options.server()
                    + "; start the application first, and give --url its rpc.server.port");
        } catch (IOException e) {
            throw new CannotRunException("cannot call " + target + ": " + textOf(e));
        }
        if (response.statusCode() != 200) {
            throw new CannotRunException("the first call of " + target + " was answered with " + response.statusCode()
                    + ": " + failure(response).getMessage());
        }
        if (response.headers().firstValue("content-type").orElse("").startsWith("text/event-stream")) {
            throw new CannotRunException(
                    target + " answers with a stream; expected a method with one answer, whose time can be measured");
        }
    }

    @Override
    public void run(long number) throws InterruptedException {
        HttpResponse<String> response;
        try {
            // One is added, because the call made by tryOnce() has already used the number 0.
            response = http.send(request(number + 1, options.timeout()), BodyHandlers.ofString());
        } catch (HttpTimeoutException e) {
            throw failure(
                    StatusCode.DEADLINE_EXCEEDED,
                    "no answer within " + options.timeout().toMillis() + " ms (--timeout)");
        } catch (IOException e) {
            throw failure(StatusCode.UNAVAILABLE, textOf(e));
        }
        if (response.statusCode() != 200) {
            throw failure(response);
        }
    }

    private HttpRequest request(long number, Duration timeout) {
        HttpRequest.Builder request = HttpRequest.newBuilder(target)
                .timeout(timeout)
                .header("content-type", "application/json")
                .header("accept", "application/json")
                .header("tri-service-timeout", String.valueOf(timeout.toMillis()))
                .POST(BodyPublishers.ofString(options.arguments().body(number)));
        options.headers().forEach(request::header);
        return request.build();
    }

    /**
     * Returns a failure with the code and message from the response body. A proxy in front of the server may answer
     * with a body that is not JSON.
     */
    private static RpcException failure(HttpResponse<String> response) {
        try {
            JsonNode body = Json.tree(response.body());
            String code = body.path("code").asString("").toUpperCase(Locale.ROOT);
            if (!code.isEmpty()) {
                return failure(code(code), body.path("message").asString(""));
            }
        } catch (JacksonException e) {
            // The body is not JSON, so its text is used as the message.
        }
        String text = response.body().strip();
        return failure(
                StatusCode.UNKNOWN,
                "HTTP status " + response.statusCode() + " " + text.substring(0, Math.min(MAX_TEXT, text.length())));
    }

    private static StatusCode code(String name) {
        if (name.equals("CANCELED")) {
            return StatusCode.CANCELLED;
        }
        for (StatusCode code : StatusCode.values()) {
            if (code.name().equals(name)) {
                return code;
            }
        }
        return StatusCode.UNKNOWN;
    }

    private static RpcException failure(StatusCode code, String description) {
        return RpcException.refusal(code, description, RpcException.Executed.MAYBE);
    }

    private static String textOf(IOException e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
