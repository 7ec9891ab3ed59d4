package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.catalina.connector.ClientAbortException;
import org.eclipse.jetty.io.EofException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

/** Tests requests whose client disconnects before it has received the answer. */
class DisconnectedClientsTest {

    private static final long MILLI = 1_000_000;

    private final AtomicLong clock = new AtomicLong();
    private final RpcMeters meters =
            new RpcMeters(new SimpleMeterRegistry(), new Slo(500, Duration.ofMillis(100)), clock::get);
    private final WebCalls calls = new WebCalls(meters, clock::get);
    private final List<Optional<Throwable>> ended = new ArrayList<>();

    private static IOException brokenPipe(String writer) {
        IOException failure = new IOException("Broken pipe");
        failure.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("sun.nio.ch.SocketDispatcher", "write0", null, -2),
            new StackTraceElement(writer, "write", null, 1),
            new StackTraceElement("shop.Orders", "export", null, 1)
        });
        return failure;
    }

    static Stream<Throwable> ofClients() {
        return Stream.of(
                new ClientAbortException(new IOException("Broken pipe")),
                new HttpMessageNotWritableException("no JSON", new ClientAbortException()),
                new AsyncRequestNotUsableException("ServletOutputStream failed to write"),
                new EofException("Closed"),
                brokenPipe("org.eclipse.jetty.ee11.servlet.HttpOutput"));
    }

    private void end(int status, Throwable failure, long tookMillis) {
        meters.observe((method, ledger, took, now, reason) -> ended.add(Optional.ofNullable(reason)));
        WebCalls.Call call = calls.begin("GET", "/orders", 0, () -> null);
        clock.addAndGet(tookMillis * MILLI);
        call.ended(status, failure);
    }

    @ParameterizedTest
    @MethodSource("ofClients")
    void requestWhoseClientDisconnectsIsNotAFailure(Throwable failure) {
        end(200, failure, 5);

        assertThat(ended).as("calls that the diagnosis compares").isEmpty();
        assertThat(calls.runningCalls()).isEmpty();
    }

    @Test
    void requestWhoseClientLeavesBecauseItIsLateIsLate() {
        end(200, new ClientAbortException(), 500);

        assertThat(ended).containsExactly(Optional.empty());
    }

    @Test
    void brokenConnectionToAnotherServerIsAFailure() {
        Throwable failure = new ResourceAccessException("GET stock", new EofException("Closed"));
        end(500, failure, 5);
        Throwable other = brokenPipe("java.net.Socket$SocketOutputStream");
        end(500, other, 5);

        assertThat(ended).containsExactly(Optional.of(failure), Optional.of(other));
    }
}
