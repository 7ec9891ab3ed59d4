package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import tern.rpc.NanoClock;

/**
 * Resets streams whose answer ended before their request was complete, if the request does not end within a second. An
 * immediate reset is usually unnecessary, because most clients end the request when the answer arrives. An immediate
 * reset can also be harmful, because it makes some clients drop the answer (RFC 9113, 8.1). Each connection has only
 * one scheduled task and stores only stream ids. A task per stream would keep the headers of ended streams in memory.
 * Confined to the event loop.
 */
final class EarlyAnswers {

    /** The time limit for a client to end a request that was answered before it was complete. */
    private static final long LATE_END_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Http2Connection http2;
    private final Consumer<Http2Stream> reset;
    private final NanoClock clock;
    private final Queue<Answered> answered = new ArrayDeque<>();
    private boolean waiting; // true while a task that resets streams is scheduled

    EarlyAnswers(Http2Connection http2, Consumer<Http2Stream> reset, NanoClock clock) {
        this.http2 = http2;
        this.reset = reset;
        this.clock = clock;
    }

    private record Answered(int stream, long untilNanos) {}

    /** Called when the answer of a stream has ended before its request. */
    void add(int stream, ScheduledExecutorService loop) {
        answered.add(new Answered(stream, clock.nanoTime() + LATE_END_NANOS));
        schedule(loop);
    }

    private void schedule(ScheduledExecutorService loop) {
        Answered first = answered.peek();
        if (first != null && !waiting) {
            waiting = true;
            loop.schedule(() -> end(loop), first.untilNanos - clock.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    private void end(ScheduledExecutorService loop) {
        waiting = false;
        long now = clock.nanoTime();
        for (Answered first = answered.peek(); first != null && first.untilNanos - now <= 0; first = answered.peek()) {
            answered.remove();
            Http2Stream stream = http2.stream(first.stream);
            if (stream != null && isOpen(stream)) {
                reset.accept(stream);
            }
        }
        schedule(loop);
    }

    /** Returns true if the server has sent the whole answer on the stream but the client has not ended its request. */
    static boolean isOpen(Http2Stream stream) {
        return stream.state() == Http2Stream.State.HALF_CLOSED_LOCAL;
    }
}
