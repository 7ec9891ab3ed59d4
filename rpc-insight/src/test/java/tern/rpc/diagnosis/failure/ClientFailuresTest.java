package tern.rpc.diagnosis.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import feign.FeignException;
import io.grpc.StatusRuntimeException;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests failures of other services as reported by clients, including clients that Tern does not measure. */
class ClientFailuresTest {

    private static final String FEIGN =
            "[503 Service Unavailable] during [GET] to [http://stock:8080/levels] [Stock#levels()]: [see bank:9090]";

    /** Returns the exception with a stack trace in which application code calls the named class. */
    private static <T extends Throwable> T thrownIn(String type, T failure) {
        List<StackTraceElement> frames = new ArrayList<>();
        if (!type.isEmpty()) {
            frames.add(new StackTraceElement(type, "execute", null, 9));
        }
        frames.add(new StackTraceElement("shop.Orders", "place", "Orders.java", 40));
        failure.setStackTrace(frames.toArray(StackTraceElement[]::new));
        return failure;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "feign.SynchronousMethodHandler               | [503 Service Unavailable] during [GET] to [http://a]",
                "retrofit2.adapter.rxjava3.BodyObservable     | HTTP 503 Service Unavailable",
                "sun.net.www.protocol.http.HttpURLConnection  | Server returned HTTP response code: 503 for URL:"
                        + " http://a",
                "com.amazonaws.http.AmazonHttpClient          | Slow (Service: S3; Status Code: 503; Error Code: Slow)",
                "org.elasticsearch.client.RestClient          | host [http://a:92], status line [HTTP/1.1 503"
                        + " Unavailable]",
                "org.springframework.web.client.StatusHandler | 503 Service Unavailable: [no body]",
                "org.glassfish.jersey.client.JerseyInvocation | HTTP 503 Service Unavailable",
            })
    void statusOfAnAnswerIsReadFromTheMessagesOfManyClients(String client, String message) {
        assertThat(ClientFailures.of(thrownIn(client, new IOException(message)), false))
                .isEqualTo("HTTP status 503");
    }

    @Test
    void statusInAnExceptionOfTheApplicationIsNotOfAPeer() {
        assertThat(ClientFailures.of(thrownIn("", new IllegalStateException("[503] order 17 is closed")), false))
                .isNull();
    }

    @Test
    void numberThatIsNoStatusIsIgnored() {
        IOException failure = new IOException("cannot read 503 bytes of [http://stock:8080]");

        assertThat(ClientFailures.of(thrownIn("okhttp3.RealCall", failure), false))
                .isNull();
    }

    private static Diagnosis failing(Throwable failure, Consumer<Shop.Steps> calls) {
        Shop shop = new Shop().healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void statusThatAClientReportsIsTheFailureOfThePeer() {
        Diagnosis miss = failing(thrownIn("", new FeignException(FEIGN)), USUAL);

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: HTTP peer at stock:8080: HTTP status 503");
        assertThat(first(miss).change().text())
                .startsWith("find out why HTTP peer at stock:8080 or the process behind it");
    }

    @Test
    void peerOfAClientThatIsNotMeasuredIsNotTheOneOfAMeasuredExchange() {
        Diagnosis miss =
                failing(thrownIn("", new FeignException(FEIGN)), call -> call.in(Phase.HTTP, "GET carrier:80", 3));

        assertThat(DiagnosisText.title(first(miss))).startsWith("PEER FAILS: HTTP peer at stock:8080");
    }

    @Test
    void answerThatEndsTooEarlyIsTheFailureOfThePeer() {
        EOFException end = thrownIn("okhttp3.internal.http1.Http1ExchangeCodec", new EOFException("\\n not found"));
        Diagnosis miss = failing(
                thrownIn(
                        "okhttp3.internal.http1.Http1ExchangeCodec",
                        new IOException("unexpected end of stream on http://stock:8080/...", end)),
                call -> call.own(1));

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("PEER FAILS: HTTP peer at stock:8080: unexpected end of stream");
        assertThat(first(miss).change().text()).contains("closes connections");
    }

    @Test
    void statusOfGrpcIsTheFailureOfThePeer() {
        Throwable failure = thrownIn("io.grpc.stub.ClientCalls", new StatusRuntimeException("UNAVAILABLE: no network"));

        assertThat(DiagnosisText.title(first(failing(failure, call -> call.own(1)))))
                .isEqualTo("PEER FAILS: peer of OrderService.place: UNAVAILABLE");
    }

    @Test
    void statusOfGrpcThatTheApplicationCreatesIsItsOwnFailure() {
        Throwable failure = thrownIn("", new StatusRuntimeException("UNAVAILABLE: closed"));

        assertThat(first(failing(failure, call -> call.own(1))).kind()).isEqualTo("FAILURE");
    }

    @Test
    void deadlineOfGrpcIsNoFailureOfThePeer() {
        Throwable failure =
                thrownIn("io.grpc.stub.ClientCalls", new StatusRuntimeException("DEADLINE_EXCEEDED: after 2 s"));

        assertThat(failing(failure, call -> call.own(300)).causes())
                .extracting(Cause::kind)
                .doesNotContain("PEER FAILS", "FAILURE");
    }
}
