package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests the memory of small messages waiting in a stream. The messages must occupy little memory, and all of this
 * memory must be counted.
 */
@Timeout(60)
class SmallStreamMessagesTest {

    private static final int STREAMS = 4;
    private static final int MESSAGES = 16; // the number of messages that a stream requests in advance

    /** A service that reads its messages only after the test has allowed it. */
    public interface Parts {
        CompletionStage<StringValue> take(Flow.Publisher<StringValue> parts);
    }

    private final CountDownLatch free = new CountDownLatch(1);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        free.countDown();
        sides.close();
    }

    private CompletionStage<StringValue> take(Flow.Publisher<StringValue> parts) {
        CompletableFuture<StringValue> taken = new CompletableFuture<>();
        parts.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(StringValue part) {
                try {
                    free.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public void onError(Throwable failure) {
                taken.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                taken.complete(StringValue.of("all"));
            }
        });
        return taken;
    }

    private double held() {
        return registry.get(RpcMeter.SERVER_INBOUND.key()).gauge().value();
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/grpc-web+proto", "application/connect+proto"})
    void eachWaitingMessageCounts(String type) {
        RpcServer server = sides.serve(
                limits -> limits,
                settings -> settings.meters(new RpcMeters(registry, Slo.DEFAULT))
                        .export(ServiceExport.of(Parts.class, this::take)));
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            for (int i = 0; i < STREAMS; i++) {
                Http2Headers head = new DefaultHttp2Headers(false)
                        .method("POST")
                        .scheme("http")
                        .path("/" + Parts.class.getName() + "/take")
                        .authority("localhost")
                        .set("content-type", type)
                        .set("te", "trailers");
                wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 1 + 2 * i, Http2Wire.block(head));
                ByteArrayOutputStream messages = new ByteArrayOutputStream();
                for (int n = 0; n < MESSAGES; n++) {
                    messages.writeBytes(
                            Http2Script.framed(0, StringValue.of("x").toByteArray()));
                }
                wire.frame(Http2Wire.DATA, 0, 1 + 2 * i, messages.toByteArray());
            }

            // one message of each stream has been decoded, and the other messages wait
            Await.until("all of it counts", () -> held() >= STREAMS * (MESSAGES - 1) * 1024.0);
            free.countDown();
            Await.until("nothing is held", () -> held() == 0);
        }
    }

    @Test
    void smallMessageKeepsNoReadBuffer() {
        ByteBuf read = PooledByteBufAllocator.DEFAULT.directBuffer(64 << 10).writeZero(64 << 10);

        Frame alone = new Frame(read.readRetainedSlice(5), 1).alone();
        Frame nothing = new Frame(read.readRetainedSlice(0), 0).alone();
        Frame large = new Frame(read.readRetainedSlice(BodyReader.SMALL_BYTES), 0).alone();

        assertThat(read.refCnt()).isEqualTo(2); // only the test and the large message still use the read buffer
        assertThat(alone.payload().capacity()).isEqualTo(5);
        assertThat(alone.flags()).isEqualTo(1);
        assertThat(nothing.payload().capacity()).isZero();
        large.payload().release();
        assertThat(read.release()).isTrue();
    }
}
