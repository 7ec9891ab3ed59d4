package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.server.ServiceExport;

/** Tests how often an incomplete request is checked, and how much memory is counted for it. */
class ArrivingCallTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** An exchange that drops its answer. */
    private static final class Silent extends HttpExchange {

        Silent(ServerConnection connection, Http2Headers head) {
            super(connection, head);
        }

        @Override
        boolean isHttp2() {
            return true;
        }

        @Override
        void execute(Runnable task) {
            task.run();
        }

        @Override
        void consumed(int bytes) {}

        @Override
        void reset(Http2Error error) {}

        @Override
        void write(HttpWrite part, WriteBatch batch) {
            batch.handedOver(part.bytes());
            left(part.bytes());
        }

        @Override
        boolean isWritable() {
            return true;
        }

        @Override
        long takenStepBytes() {
            return 0;
        }
    }

    /** A request whose headers have arrived, on a connection without a socket. */
    private record Arriving(EmbeddedServer.Peer peer, HttpCall call) {}

    private static void begin(long timeoutNanos, Consumer<Arriving> then) throws Exception {
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        builder -> builder.export(ServiceExport.of(Words.class, new WordsServer())));
                EmbeddedServer.Peer peer = server.connect()) {
            Http2Headers head = Http2Wire.head("/a.Service/method", "application/grpc");
            HttpCall call = new HttpCall(
                    new GrpcForm(sides.codecs(), false, GrpcHeaders.GRPC),
                    new Silent(peer.connection(), head),
                    Route.nowhere(head),
                    new FramedBody(Framing.GRPC, 1_000, false),
                    timeoutNanos,
                    false);
            call.begin();
            then.accept(new Arriving(peer, call));
        }
    }

    @Test
    void incompleteRequestIsCheckedRarelyAfterASecond() throws Exception {
        begin(-1, arriving -> {
            HttpCall call = arriving.call();
            long now = System.nanoTime();
            assertThat(call.mayRest(now + SECOND)).isFalse(); // the call's memory is not counted yet

            assertThat(call.isOverOrExpires(now)).isFalse();

            assertThat(call.mayRest(now)).isFalse();
            assertThat(call.mayRest(now + SECOND)).isTrue();
        });
    }

    @Test
    void incompleteRequestIsCheckedOftenBeforeItsDeadline() throws Exception {
        begin(10 * SECOND, arriving -> {
            HttpCall call = arriving.call();
            long now = System.nanoTime();
            assertThat(call.isOverOrExpires(now)).isFalse();

            assertThat(call.mayRest(now + 7 * SECOND)).isTrue();
            assertThat(call.mayRest(now + 9 * SECOND)).isFalse();
        });
    }

    @Test
    void openRequestWithoutBodyCountsTheMemoryOfItsObjects() throws Exception {
        begin(-1, arriving -> {
            assertThat(arriving.peer().requestBytes()).isZero();

            arriving.call().isOverOrExpires(System.nanoTime());

            assertThat(arriving.peer().requestBytes()).isEqualTo(2 << 10);
        });
    }
}
