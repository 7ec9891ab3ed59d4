package tern.rpc.netty.streams;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;

/** Tests streams of large messages that run concurrently with streams of small messages. */
@Timeout(1_800)
class LargeStreamMessagesTest extends StreamsOfOneConnection {

    /** The messages of all streams together need less memory than the server's memory for unread answers. */
    @ParameterizedTest
    @EnumSource
    void streamsOfLargeMessagesEnd(Wire wire) throws Exception {
        runLarge(wire, 32, 1 << 20);
    }

    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY"})
    void streamsOfTheLargestMessagesEnd(Wire wire) throws Exception {
        runLarge(wire, 6, 7 << 20);
    }

    /** Runs streams of large messages concurrently with the same number of streams of small messages. */
    private static void runLarge(Wire wire, int streams, int bytes) throws Exception {
        try (FeedCaller caller = wire.connect()) {
            for (Way way : wire.ways()) {
                List<FeedPlan> plans = new ArrayList<>();
                for (int i = 0; i < streams; i++) {
                    plans.add(FeedPlan.of(way, patientId(wire, i), 2, bytes));
                    plans.add(FeedPlan.of(way, patientId(wire, streams + i), 20, 1 << 10)
                            .reading(i % 2 == 0 ? Reading.ONE_BY_ONE : Reading.EAGER));
                }
                sides.run(caller, plans);
            }
        }
    }

    /**
     * Returns the id of a stream whose method sends answers only as fast as the client reads them. The id selects the
     * method.
     */
    private static int patientId(Wire wire, int number) {
        return wire == Wire.GENERATED_SERVICE ? 12 * number : number / 2 * 12 + number % 2;
    }
}
