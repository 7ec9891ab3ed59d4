package tern.rpc.netty.streams;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;
import tern.rpc.netty.streams.WebCaller.Form;

/**
 * Runs many concurrent streams on one connection. Every message must arrive once and in order, every stream must end as
 * planned, and no resource may remain in use. The id of a stream selects its Java signature, so four streams cover all
 * signatures. All connections of a test class lead to the same server.
 */
abstract class StreamsOfOneConnection {

    /**
     * A client and a server with one connection between them. Each constant combines different implementations of
     * client and server.
     */
    enum Wire {
        TERN,
        MEMORY,
        GRPC_CLIENT,
        GENERATED_SERVICE,
        GRPC_SERVER,
        GRPC,
        GRPC_WEB,
        CONNECT,
        EVENTS;

        FeedCaller connect() {
            return switch (this) {
                case TERN -> sides.ternCaller(sides.port());
                case MEMORY -> sides.memoryCaller();
                case GRPC_CLIENT -> sides.grpcCaller(1 << 20);
                case GENERATED_SERVICE -> new GrpcCaller(sides.port(), GrpcMethods.LEDGER, 1 << 20, false);
                case GRPC_SERVER -> sides.ternCallerOfGrpc(1 << 20);
                case GRPC -> sides.webCaller(Form.GRPC, 65_535);
                case GRPC_WEB -> sides.webCaller(Form.GRPC_WEB, 65_535);
                case CONNECT -> sides.webCaller(Form.CONNECT, 65_535);
                case EVENTS -> sides.webCaller(Form.EVENTS, 65_535);
            };
        }

        List<Way> ways() {
            return ways(this == EVENTS);
        }

        static List<Way> ways(boolean ofEvents) {
            return ofEvents ? List.of(Way.DOWN) : List.of(Way.values());
        }
    }

    static FeedsSides sides;

    @BeforeAll
    static void start() {
        sides = new FeedsSides();
    }

    @AfterAll
    static void stop() {
        sides.close();
    }

    /** Runs streams whose clients read nothing until the other streams of the connection have ended. */
    static void runBesideUnread(Wire wire, int unread, int messages, int bytes) throws Exception {
        // With an odd stream id, a method of the generated service sends without checking isReady. The server ends such
        // a stream if the client reads slowly, so all streams whose messages are read have even ids.
        int step = wire == Wire.GENERATED_SERVICE ? 2 : 1;
        try (FeedCaller caller = wire.connect()) {
            for (Way way : List.of(Way.DOWN, Way.BOTH)) {
                List<FeedPlan> plans = new ArrayList<>();
                for (int i = 0; i < unread; i++) {
                    plans.add(FeedPlan.of(way, publisherId(i), messages, bytes).reading(Reading.PAUSED));
                }
                for (int i = 0; i < 4; i++) {
                    plans.add(FeedPlan.of(way, publisherId(unread + i * step), 200, 64 << 10));
                }
                sides.run(caller, plans);
            }
        }
    }

    /**
     * Returns a stream id that selects a method with a publisher or a Flux. A method with an observer would block a
     * client thread or a server thread.
     */
    private static int publisherId(int number) {
        return number / 2 * 4 + number % 2;
    }
}
