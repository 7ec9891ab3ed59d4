package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests how connections from two addresses share the memory for headers and for decompressed requests. */
class OpenRequestMemoryTest {

    private static final int BUDGET = 1 << 20;
    private static final int HEAD = 4 << 10;
    private static final int STEP = 64 << 10;

    private final FairBudget heads = new FairBudget(BUDGET);
    private final InboundBudget requests = InboundBudget.forAll(BUDGET);

    private OpenRequestMemory from(int host) {
        try {
            InetAddress network = InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host});
            return new OpenRequestMemory(heads, requests, network, () -> {
                throw new AssertionError("no message is counted");
            });
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void headersOfManyConnectionsFromOneAddressLeaveRoomForAnother() {
        List<OpenRequestMemory> flooding = new ArrayList<>();
        @Nullable String refusal = null;
        for (int i = 0; i < 1_000; i++) {
            OpenRequestMemory connection = from(1);
            refusal = connection.holdHead(HEAD);
            flooding.add(connection);
        }
        assertThat(refusal)
                .contains("of 1048576 bytes are held for headers of open requests")
                .contains("524288 of them for this address and 0 on this connection");

        OpenRequestMemory other = from(2);
        for (int i = 0; i < 10; i++) {
            assertThat(other.holdHead(HEAD)).isNull();
        }

        flooding.forEach(OpenRequestMemory::closed);
        other.closed();
        assertThat(heads.used() + heads.networks() + requests.networks()).isZero();
    }

    @Test
    void decompressedRequestsOfOneAddressLeaveRoomForAnother() {
        List<OpenRequestMemory> flooding = new ArrayList<>();
        @Nullable String refusal = null;
        for (int i = 0; i < 20; i++) {
            OpenRequestMemory connection = from(1);
            refusal = connection.unpacks(STEP);
            flooding.add(connection);
        }
        assertThat(refusal).contains("bytes are held for requests (set by rpc.limits.max-inbound-bytes)");

        OpenRequestMemory other = from(2);
        assertThat(other.unpacks(STEP)).isNull();

        flooding.forEach(OpenRequestMemory::closed);
        other.unpacked(STEP);
        other.closed();
        assertThat(requests.used()).isPositive();
        assertThat(requests.networks()).isEqualTo(1);
        flooding.get(0).unpacked((int) requests.used());
        assertThat(requests.networks()).isZero();
    }
}
