package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EarlyAnswersTest {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ScheduledExecutorService loop = (ScheduledExecutorService) Proxy.newProxyInstance(
            EarlyAnswersTest.class.getClassLoader(),
            new Class<?>[] {ScheduledExecutorService.class},
            (proxy, method, arguments) -> {
                tasks.add((Runnable) arguments[0]);
                return null;
            });
    private final Http2Connection http2 = new DefaultHttp2Connection(true);
    private final List<Integer> reset = new ArrayList<>();
    private long now;
    private final EarlyAnswers answers = new EarlyAnswers(http2, stream -> reset.add(stream.id()), () -> now);

    /** Opens a stream whose answer ends before its request. */
    private Http2Stream answered(int id) throws Http2Exception {
        Http2Stream stream = http2.remote().createStream(id, false);
        stream.closeLocalSide();
        answers.add(id, loop);
        return stream;
    }

    @Test
    void streamIsResetIfItsRequestDoesNotEndWithinASecond() throws Http2Exception {
        answered(1);
        Http2Stream ended = answered(3);
        now = TimeUnit.MILLISECONDS.toNanos(400);
        answered(5);
        ended.close();

        now = TimeUnit.SECONDS.toNanos(1);
        tasks.remove().run();

        assertThat(reset).containsExactly(1);
        now = TimeUnit.MILLISECONDS.toNanos(1_400);
        tasks.remove().run();
        assertThat(reset).containsExactly(1, 5);
        assertThat(tasks).isEmpty();
    }

    @Test
    void manyEndedStreamsNeedOneTaskAndAreNotKept() throws Http2Exception {
        List<WeakReference<Http2Stream>> ended = new ArrayList<>();
        for (int id = 1; id < 2_000; id += 2) {
            Http2Stream stream = answered(id);
            stream.close();
            ended.add(new WeakReference<>(stream));
        }

        assertThat(tasks).hasSize(1);
        while (ended.stream().anyMatch(each -> each.get() != null)) {
            System.gc();
        }
        now = TimeUnit.SECONDS.toNanos(1);
        tasks.remove().run();
        assertThat(reset).isEmpty();
        assertThat(tasks).isEmpty();
    }
}
