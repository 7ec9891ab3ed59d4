package tern.rpc.netty.streams;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.ledger.Entry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;
import tern.rpc.netty.streams.WebCaller.Form;

/**
 * Tests streams under unusual conditions: over TLS, on virtual threads, with more streams than threads, and with more
 * streams than the server permits. Large unary calls use the same connection.
 */
@Timeout(120)
class StreamConditionsTest {

    private static final int WINDOW = 65_535;
    private static final int LARGE = 1 << 20;

    private enum Condition {
        TLS,
        ONE_LOOP,
        ONE_WORKER,
        FOUR_WORKERS_AND_TLS,
        FOUR_STREAMS_AT_ONCE,
        VIRTUAL_THREADS;

        FeedsSettings settings() {
            // readers might be slow on a busy machine, so the server must not end their streams early
            FeedsSettings usual = FeedsSettings.usual().withStreamWait(Duration.ofSeconds(60));
            return switch (this) {
                case TLS -> usual.withTls();
                case ONE_LOOP -> usual.withLoops(1);
                case ONE_WORKER -> usual.withWorkers(1).withLoops(1);
                case FOUR_WORKERS_AND_TLS -> usual.withWorkers(4).withTls();
                case FOUR_STREAMS_AT_ONCE -> usual.withMaxStreams(4);
                case VIRTUAL_THREADS -> usual.withVirtualThreads();
            };
        }
    }

    /** Returns plans for streams in all directions. Some of the readers are slow. */
    private static List<FeedPlan> plans(List<Way> ways, int streams, int messages, int bytes) {
        return IntStream.range(0, streams)
                .mapToObj(id -> FeedPlan.of(ways.get(id % ways.size()), id / ways.size(), messages, bytes)
                        .reading(id % 5 == 3 ? Reading.ONE_BY_ONE : Reading.EAGER))
                .toList();
    }

    /**
     * Runs more streams than there are threads. Then runs streams with messages that exceed the smallest flow-control
     * window.
     */
    private static void run(FeedsSides sides, FeedCaller caller) {
        List<Way> ways = List.of(Way.values());
        sides.run(caller, plans(ways, 24, 12, 1 << 10));
        sides.run(caller, plans(ways, 6, 2, 3 * WINDOW));
    }

    @ParameterizedTest
    @EnumSource
    void streamsAndLargeCallsOnOneConnectionEnd(Condition condition) throws Exception {
        try (FeedsSides sides = new FeedsSides(condition.settings());
                TernCaller caller = sides.ternCaller(sides.port())) {
            Entry large = Entry.newBuilder().setAccount("x".repeat(LARGE)).build();
            List<CompletableFuture<Entry>> calls =
                    IntStream.range(0, 4).mapToObj(i -> caller.echo(large)).toList();

            run(sides, caller);

            for (CompletableFuture<Entry> call : calls) {
                assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(large);
            }
        }
    }

    /**
     * The number of paused streams is greater than the number of streams that one connection permits. The answers of
     * each paused stream exceed the stream's flow-control window.
     */
    @Test
    void streamsBehindPausedStreamsUseFurtherConnections() throws Exception {
        List<FeedPlan> plans = IntStream.range(0, 20)
                .mapToObj(id -> FeedPlan.of(Way.DOWN, id, 60, WINDOW).reading(id < 10 ? Reading.PAUSED : Reading.EAGER))
                .toList();
        try (FeedsSides sides = new FeedsSides(Condition.FOUR_STREAMS_AT_ONCE.settings());
                TernCaller caller = sides.ternCaller(sides.port())) {
            sides.run(caller, plans);
        }
    }

    @ParameterizedTest
    @EnumSource
    void streamsOfGrpcClientsWithSmallWindowsEnd(Condition condition) throws Exception {
        try (FeedsSides sides = new FeedsSides(condition.settings());
                FeedCaller caller = sides.grpcCaller(WINDOW)) {
            run(sides, caller);
        }
    }

    @ParameterizedTest
    // the client for the web protocols ignores the server's limit on concurrent streams
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FOUR_STREAMS_AT_ONCE")
    void streamsOfWebClientsWithSmallWindowsEnd(Condition condition) throws Exception {
        for (Form form : List.of(Form.GRPC_WEB, Form.CONNECT)) {
            // each client gets its own server, because a server with few workers reserves some workers for clients that
            // made calls during the last second
            try (FeedsSides sides = new FeedsSides(condition.settings());
                    FeedCaller caller = sides.webCaller(form, WINDOW)) {
                run(sides, caller);
            }
        }
    }
}
