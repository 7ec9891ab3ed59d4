package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientConnection;
import tools.jackson.databind.json.JsonMapper;

/** Tests that large answers over HTTP/1.1 count in the memory for unfinished answers until their calls end. */
@Timeout(60)
class UnfinishedHttp1AnswersTest {

    private static final int PART = 200_000;

    interface Notes {
        String echo(String text);

        CompletableFuture<String> later(String text);
    }

    private final EventLoops loops = EventLoops.start(1);
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final RawServer server = RawServer.start();
    private final AtomicReference<ClientConnection> opened = new AtomicReference<>();
    private final RpcClient client = RpcClient.builder()
            .transport(new ShownTransport(
                    new NettyClientTransport(
                            ClientTransportSettings.named("shop"), loops, new Http1ClientProtocol(codecs)),
                    opened::set))
            .timeout(Duration.ofSeconds(20))
            .build();
    private final Notes notes =
            client.refer(ServiceReference.to(Notes.class, new StaticEndpoints(List.of(server.endpoint())))
                    .protocol(Http1ClientProtocol.NAME)
                    .build());
    private final RawSocket ofEventLoop = server.next();

    @AfterEach
    void stop() {
        client.close();
        server.close();
        loops.close();
        assertThat(UnfinishedAnswers.OF_PROCESS.usedBytes()).isZero();
    }

    /**
     * Starts a call.
     *
     * @param blocking whether another thread makes the call and blocks; otherwise the event loop reads the answer
     */
    private CompletableFuture<String> call(boolean blocking) {
        Await.until("the first connection is there", () -> opened.get().isAvailable());
        if (!blocking) {
            return notes.later("x");
        }
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                answer.complete(notes.echo("x"));
            } catch (RpcException e) {
                answer.completeExceptionally(e);
            }
        });
        caller.start();
        return answer;
    }

    /** Sends the header of a large answer and the first part of its body. Returns the socket of the call. */
    private RawSocket beginAnswer(boolean blocking) {
        RawSocket socket = blocking ? server.next() : ofEventLoop;
        socket.readFully("POST ".length());
        socket.send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000002\r\n\r\n\""
                .getBytes(US_ASCII));
        return socket.send(" ".repeat(PART).getBytes(US_ASCII));
    }

    private static RpcException failure(CompletableFuture<String> call) {
        Throwable failure = catchThrowable(call::join);
        assertThat(failure).isInstanceOf(CompletionException.class);
        return (RpcException) failure.getCause();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void largeAnswerIsNotReadToItsEndWhileOtherAnswersHoldTheMemory(boolean blocking) {
        CompletableFuture<String> call = call(blocking);

        try (FullAnswerMemory full = new FullAnswerMemory()) {
            beginAnswer(blocking);

            RpcException failure = failure(call);
            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure).hasMessageContainingAll("its answer is not read completely", "half of the heap");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answerThatArrivesHoldsMemoryUntilItIsComplete(boolean blocking) {
        CompletableFuture<String> call = call(blocking);

        RawSocket socket = beginAnswer(blocking);

        Await.until("the part is read", () -> UnfinishedAnswers.OF_PROCESS.usedBytes() >= PART);
        socket.send((" ".repeat(1_000_000 - PART) + '"').getBytes(US_ASCII));
        assertThat(call.join()).hasSize(1_000_000);
        assertThat(UnfinishedAnswers.OF_PROCESS.usedBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answerThatIsCutOffReleasesItsMemory(boolean blocking) {
        CompletableFuture<String> call = call(blocking);
        RawSocket socket = beginAnswer(blocking);
        Await.until("the part is read", () -> UnfinishedAnswers.OF_PROCESS.usedBytes() >= PART);

        socket.close();

        assertThat(failure(call).code()).isEqualTo(StatusCode.UNAVAILABLE);
        Await.until("the memory is free", () -> UnfinishedAnswers.OF_PROCESS.usedBytes() == 0);
    }

    @Test
    void cancelledCallReleasesItsMemory() {
        CompletableFuture<String> call = call(false);
        beginAnswer(false);
        Await.until("the part is read", () -> UnfinishedAnswers.OF_PROCESS.usedBytes() >= PART);

        call.cancel(true);

        Await.until("the memory is free", () -> UnfinishedAnswers.OF_PROCESS.usedBytes() == 0);
    }
}
