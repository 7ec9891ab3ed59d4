package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

/** Tests work of libraries that the samples of threads show. */
class SampledCallsTest {

    private int looks;

    private void look(Sampler.Samples samples, String body) {
        String[] inner = {"UTF8StreamJsonParser/_finishString", "JsonFactory/create", "BeanDeserializer/deserialize"};
        StackTraceElement[] stack = Stream.of(
                        "tools.jackson.core." + inner[looks++ % inner.length],
                        "org.springframework.web.servlet.mvc.method.annotation.RequestResponseBodyMethodProcessor/"
                                + body,
                        "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                        "depot.TraceFilter/doFilterInternal")
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        samples.add(SampledCalls.sample(
                Phase.OWN, new ThreadLook("http-1", 7, Thread.State.RUNNABLE, stack, null, null, -1, -1)));
    }

    @Test
    void timeThatIsSpentOnLargeAnswersIsOneCause() {
        Cause first = new SampledCalls()
                .calls("GET /orders", Phase.OWN, 150, samples -> look(samples, "writeWithMessageConverters"))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("LARGE ANSWERS: GET /orders");
        assertThat(first.ms()).isGreaterThan(100);
        assertThat(first.change().text()).startsWith("smaller answers of GET /orders");
    }

    @Test
    void collectorIsASymptomOfLargeWebRequests() {
        Cause first = new SampledCalls()
                .calls("POST /orders", Phase.OWN, 200, samples -> look(samples, "readWithMessageConverters"))
                .pausedMillis(120)
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("LARGE REQUESTS: POST /orders");
        assertThat(first.ms()).isGreaterThan(150);
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("collector"));
    }

    private void lookAtClient(Sampler.Samples samples, Phase phase, String library, String opens) {
        StackTraceElement[] stack = Stream.of("sun.nio.ch.Net/poll", opens, library, "depot.Tracking/track")
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        ThreadLook thread = new ThreadLook("http-1", 7, Thread.State.WAITING, stack, null, null, -1, -1);
        samples.add(SampledCalls.sample(phase, thread));
        samples.addStack(phase, thread);
    }

    /** Returns the first cause of calls that were always found in a client at the given frame. */
    private Cause firstInClient(Phase phase, String library, String frame) {
        return new SampledCalls()
                .calls("Tracking.track", phase, 150, samples -> lookAtClient(samples, phase, library, frame))
                .causes()
                .get(0);
    }

    @Test
    void exchangesThatOpenConnectionsAreToldToKeepThem() {
        Cause first = firstInClient(Phase.HTTP, "okhttp3.Call/execute", "sun.nio.ch.NioSocketImpl/connect");

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: GET stock:80");
        assertThat(first.change().text()).startsWith("keep connections open and use one client");
    }

    @Test
    void clientThatIsNotMeasuredIsToldToHaveMoreConnections() {
        Cause first = firstInClient(
                Phase.OWN,
                "org.apache.hc.client5.http.impl.classic.CloseableHttpClient/execute",
                "org.apache.hc.core5.pool.StrictConnPool/lease");

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: called in Tracking.track");
        assertThat(first.change().text()).startsWith("more connections per route");
    }

    @Test
    void statementsThatOpenConnectionsAreToldToUseAPool() {
        Cause first = firstInClient(Phase.OWN, "org.postgresql.Driver/connect", "sun.nio.ch.NioSocketImpl/connect");

        assertThat(DiagnosisText.title(first)).isEqualTo("CONNECTIONS OPEN SLOWLY: opened in Tracking.track");
        assertThat(first.change().text()).startsWith("a pool of connections").contains("Tracking.track:7");
    }
}
