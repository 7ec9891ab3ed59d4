package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetService;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;

/** Tests bytes that a correct server never sends to a client. */
@Timeout(120)
class DubboBadAnswerTest {

    private static final RawFrame GOOD_REQUEST = Fixtures.frame("dubbo-probe/ok.request.bin");
    private static final RawFrame GOOD_ANSWER = Fixtures.frame("dubbo-probe/ok.response.bin");

    private static final int MAX_BYTES = 100_000;

    private final Sides sides = new Sides();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        callers.shutdownNow();
        sides.close();
    }

    private GreetService client(RawServer raw) {
        return Sides.refer(
                sides.client(defaults -> defaults.withReconnect(Duration.ofMillis(20), Duration.ofMillis(100))
                        .withMaxMessageBytes(MAX_BYTES)),
                reference -> {},
                raw.endpoint());
    }

    @Test
    void requestSentToAClientIsPassedOver() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<String> call = callers.submit(() -> service.echo("hello"));
            RawSocket socket = raw.next();
            RawFrame request = socket.read();

            socket.send(GOOD_REQUEST.withId(request.id())).send(GOOD_ANSWER.withId(request.id()));

            assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
        }
    }

    @Test
    void answersToUnknownOrEndedCallsAreDropped() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            RawSocket socket = null;
            for (int i = 0; i < 3; i++) {
                Future<String> call = callers.submit(() -> service.echo("hello"));
                socket = socket == null ? raw.next() : socket;
                RawFrame request = socket.read();
                socket.send(GOOD_ANSWER.withId(request.id() + 1_000_000));
                socket.send(GOOD_ANSWER.withId(request.id()));
                socket.send(GOOD_ANSWER.withId(request.id()));
                assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
            }
        }
    }

    @Test
    void tooLargeAnswerFailsItsCallOnly() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<RpcException> call =
                    callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("hello")));
            RawSocket socket = raw.next();
            long id = socket.read().id();

            socket.send(RawFrame.header(RawFrame.RESPONSE, 20, id, 1 << 20));

            // the client fails the call before it has received the body of the answer
            RpcException failure = call.get(20, TimeUnit.SECONDS);
            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
            assertThat(failure).hasMessageContaining("1048576 bytes").hasMessageContaining("rpc.limits");
            socket.send(new byte[1 << 20]);
            Future<String> next = callers.submit(() -> service.echo("hello"));
            socket.send(GOOD_ANSWER.withId(socket.read().id()));
            assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
            assertThat(raw.accepted()).isEqualTo(1);
        }
    }

    @Test
    void answerThatDoesNotDecodeFailsItsCallAlone() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            RawSocket socket = null;
            byte[] body = GOOD_ANSWER.body();
            for (int length = 0; length < body.length; length++) {
                Future<RpcException> bad =
                        callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("x")));
                socket = socket == null ? raw.next() : socket;
                long badId = socket.read().id();
                Future<String> good = callers.submit(() -> service.echo("hello"));
                long goodId = socket.read().id();

                socket.send(new RawFrame(RawFrame.RESPONSE, 20, badId, Arrays.copyOf(body, length)));
                socket.send(GOOD_ANSWER.withId(goodId));

                assertThat(bad.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.INTERNAL);
                assertThat(good.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
            }
        }
    }

    @Test
    void errorTextThatCannotBeReadLeavesTheStatus() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<RpcException> call =
                    callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("x")));
            RawSocket socket = raw.next();

            socket.send(new RawFrame(RawFrame.RESPONSE, 100, socket.read().id(), new byte[] {'S', 1}));

            assertThat(call.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(call.get(20, TimeUnit.SECONDS).wasExecuted()).isEqualTo(Executed.NO);
        }
    }

    /** Dubbo's providers write error messages in their preferred serialization, which can be fastjson2 (23). */
    @Test
    void errorInAnotherSerializationKeepsItsStatus() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<RpcException> call =
                    callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("x")));
            RawSocket socket = raw.next();

            socket.send(new RawFrame(23, 100, socket.read().id(), new byte[] {0, 0, 0, 2, 0x4A, 'x'}));

            RpcException failure = call.get(20, TimeUnit.SECONDS);
            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("serialization 23");
        }
    }

    @Test
    void resultInAnotherSerializationIsUnreadable() throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<RpcException> call =
                    callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("x")));
            RawSocket socket = raw.next();

            socket.send(new RawFrame(23, 20, socket.read().id(), new byte[] {0, 0, 0, 2, 0x4A, 'x'}));

            RpcException failure = call.get(20, TimeUnit.SECONDS);
            assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
            assertThat(failure).hasMessageContaining("it uses serialization 23 (fastjson2) instead of hessian2");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"48545450", "dabb0214000000000000000000ffffffff", "dabb02140000000000000000ffffffff"})
    void bytesThatAreNoFrameCloseTheConnectionAndTheNextIsOpened(String hex) throws Exception {
        try (RawServer raw = RawServer.start()) {
            GreetService service = client(raw);
            Future<RpcException> call =
                    callers.submit(() -> catchThrowableOfType(RpcException.class, () -> service.echo("x")));
            RawSocket socket = raw.next();
            socket.read();

            socket.send(HexFormat.of().parseHex(hex)).endOutput();

            assertThat(call.get(20, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(call.get(20, TimeUnit.SECONDS).wasExecuted()).isEqualTo(Executed.MAYBE);
            RawSocket fresh = raw.next().greet();
            Future<String> next = callers.submit(() -> service.echo("hello"));
            fresh.send(GOOD_ANSWER.withId(fresh.read().id()));
            assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
        }
    }
}
