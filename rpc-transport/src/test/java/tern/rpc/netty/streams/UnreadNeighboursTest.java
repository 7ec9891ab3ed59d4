package tern.rpc.netty.streams;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests streams that share a connection with streams whose messages are not read. */
@Timeout(1_800)
class UnreadNeighboursTest extends StreamsOfOneConnection {

    /**
     * The unread messages of all streams together exceed the connection's initial flow-control window. Each stream
     * stays below the server's limit for one stream.
     */
    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY", "GRPC_SERVER", "GRPC_CLIENT", "GENERATED_SERVICE"})
    void streamsThatNobodyReadsDoNotStopOthers(Wire wire) throws Exception {
        runBesideUnread(wire, 24, 20, 64 << 10);
    }

    /**
     * The unread messages fill more than half of the connection's enlarged flow-control window, but not enough to
     * enlarge the window again.
     */
    @ParameterizedTest
    @EnumSource(names = {"TERN", "MEMORY", "GRPC_SERVER", "GRPC_CLIENT", "GENERATED_SERVICE"})
    void manyStreamsWithOneUnreadMessageDoNotStopOthers(Wire wire) throws Exception {
        runBesideUnread(wire, 160, 2, 60 << 10);
    }
}
