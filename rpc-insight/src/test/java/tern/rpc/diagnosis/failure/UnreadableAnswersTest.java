package tern.rpc.diagnosis.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests answers of other services that a client cannot read. The exceptions have the names of the libraries' own. */
@SuppressWarnings("serial")
class UnreadableAnswersTest {

    private static final String PREMIUM = "GET localhost:9921/premium";
    private static final String TAG = "Unexpected character ('<' (code 60)): expected a valid value";

    static class RestClientException extends RuntimeException {
        RestClientException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    public static final class UnknownContentTypeException extends RestClientException {
        UnknownContentTypeException(String type) {
            super(
                    "Could not extract response: no suitable HttpMessageConverter found for response type [class"
                            + " shop.Premium] and content type [" + type + "]",
                    null);
        }

        public String getStatusCode() {
            return "200 OK";
        }
    }

    static final class HttpMessageNotReadableException extends RuntimeException {
        HttpMessageNotReadableException(Throwable cause) {
            super("JSON parse error: " + cause.getMessage(), cause);
        }
    }

    static final class JsonParseException extends RuntimeException {
        JsonParseException(String message) {
            super(message);
        }
    }

    static final class UnrecognizedPropertyException extends RuntimeException {
        UnrecognizedPropertyException() {
            super("Unrecognized field \"rate\" (class shop.Premium), in java.util.ArrayList<shop.Premium>");
        }
    }

    static final class DecodingException extends RuntimeException {
        DecodingException(Throwable cause) {
            super("JSON decoding error: " + cause.getMessage(), cause);
        }
    }

    static final class ServerWebInputException extends RuntimeException {
        ServerWebInputException(Throwable cause) {
            super("400 BAD_REQUEST \"Failed to read HTTP message\"", cause);
        }
    }

    static final class WebClientException extends RuntimeException {
        WebClientException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    static final class UnsupportedMediaTypeException extends RuntimeException {
        UnsupportedMediaTypeException(String type) {
            super("Content type '" + type + "' not supported for bodyType=shop.Premium");
        }
    }

    public static final class DecodeException extends RuntimeException {
        DecodeException(Throwable cause) {
            super(cause.getMessage(), cause);
        }

        public int status() {
            return 200;
        }
    }

    private static <T extends Throwable> T thrown(T failure) {
        List<StackTraceElement> frames = new ArrayList<>();
        frames.add(new StackTraceElement("shop.Orders", "place", "Orders.java", 40));
        failure.setStackTrace(frames.toArray(StackTraceElement[]::new));
        return failure;
    }

    private static Cause firstCause(Throwable failure, Consumer<Shop.Steps> steps) {
        for (Throwable one = failure; one != null; one = one.getCause()) {
            thrown(one);
        }
        Shop shop = new Shop().healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, failure, steps);
                }
            });
        }
        Diagnosis diagnosis = shop.diagnosis();
        return first(diagnosis);
    }

    private static Cause afterExchange(Throwable failure) {
        return firstCause(failure, call -> call.own(1).in(Phase.HTTP, PREMIUM, 6));
    }

    private static String title(Throwable failure) {
        return DiagnosisText.title(afterExchange(failure));
    }

    @Test
    void pageInsteadOfJsonIsAFailureOfThePeer() {
        Cause first = afterExchange(new UnknownContentTypeException("text/html;charset=utf-8"));

        assertThat(DiagnosisText.title(first)).isEqualTo("PEER FAILS: " + PREMIUM + ": answers text/html, status 200");
        assertThat(first.change().text())
                .startsWith("find out why GET localhost:9921/premium answers text/html, status 200")
                .contains("maintenance")
                .doesNotContain("fix the code");
        assertThat(first.evidence()).contains("read     in Orders.place:40");
    }

    @Test
    void answerWithoutContentTypeIsAFailureOfThePeer() {
        assertThat(title(new UnknownContentTypeException("application/octet-stream")))
                .endsWith(PREMIUM + ": answers without content type, status 200");
    }

    @Test
    void bodyThatIsNoJsonIsAFailureOfThePeer() {
        assertThat(title(new RestClientException(
                        "Error while extracting response for type [class shop.Premium] and content type"
                                + " [application/json]",
                        new HttpMessageNotReadableException(new JsonParseException("Unexpected end-of-input")))))
                .endsWith(PREMIUM + ": answers application/json (JsonParseException)");
    }

    @Test
    void pageWithTheContentTypeOfJsonIsRecognizedByItsTag() {
        assertThat(title(new RestClientException(
                        "Error while extracting response for type [class shop.Premium] and content type"
                                + " [application/json]",
                        new HttpMessageNotReadableException(new JsonParseException(TAG)))))
                .endsWith(PREMIUM + ": answers HTML or XML");
    }

    @Test
    void answerWithOtherMembersIsComparedWithItsClass() {
        Cause first = afterExchange(new RestClientException(
                "Error while extracting response for type [class shop.Premium] and content type [application/json]",
                new HttpMessageNotReadableException(new UnrecognizedPropertyException())));

        assertThat(first.kind()).isEqualTo("PEER FAILS");
        assertThat(first.change().text()).startsWith("compare the answer of " + PREMIUM + " with the class");
    }

    @Test
    void pageThatWebClientReadsIsAFailureOfThePeer() {
        assertThat(title(new WebClientException(
                        "200 OK from GET http://localhost:9921/premium, but response failed",
                        new UnsupportedMediaTypeException("text/html"))))
                .endsWith(PREMIUM + ": answers text/html, status 200");
        assertThat(title(new DecodingException(new JsonParseException(TAG))))
                .endsWith(PREMIUM + ": answers HTML or XML");
    }

    @Test
    void pageThatFeignReadsIsAFailureOfThePeer() {
        assertThat(title(new DecodeException(new UnknownContentTypeException("text/html"))))
                .endsWith(PREMIUM + ": answers text/html, status 200");
    }

    @Test
    void jsonThatOwnCodeReadsAfterAnExchangeIsTheAnswerOfThePeer() {
        assertThat(title(new JsonParseException(TAG))).endsWith(PREMIUM + ": answers HTML or XML");
        assertThat(title(new JsonParseException("Unexpected end-of-input")))
                .endsWith(PREMIUM + ": answers JSON (JsonParseException)");
    }

    @Test
    void errorPageThatOwnCodeReadsHasItsStatus() {
        Cause first =
                firstCause(new JsonParseException(TAG), call -> call.own(1).in(Phase.HTTP, PREMIUM + " (503)", 6));

        assertThat(DiagnosisText.title(first)).endsWith(PREMIUM + ": answers HTML or XML, status 503");
    }

    @Test
    void jsonThatMayComeFromAStoreIsNotTheAnswerOfAPeer() {
        Consumer<Shop.Steps> steps =
                call -> call.own(1).in(Phase.HTTP, PREMIUM, 6).in(Phase.REDIS, "GET premium:*", 1);

        assertThat(firstCause(new JsonParseException("Unexpected end-of-input"), steps)
                        .kind())
                .isEqualTo("FAILURE");
    }

    @Test
    void requestThatCannotBeReadIsNoAnswer() {
        assertThat(afterExchange(new ServerWebInputException(new DecodingException(new JsonParseException("x"))))
                        .kind())
                .isEqualTo("FAILURE");
        assertThat(afterExchange(new HttpMessageNotReadableException(new JsonParseException("x")))
                        .kind())
                .isEqualTo("FAILURE");
    }
}
