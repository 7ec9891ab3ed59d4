package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.limit.Share;

class OpenStreamsTest {

    private final OpenStreams streams = new OpenStreams(120);

    private int openAll(Share share) {
        int opened = 0;
        while (streams.refusal(share) == null) {
            streams.opened(share);
            opened++;
        }
        return opened;
    }

    @Test
    void tenantsGetEqualPartsAndLeaveOneForTheNext() {
        Share first = new Share("first");
        Share second = new Share("second");

        assertThat(openAll(first)).isEqualTo(60);
        assertThat(openAll(second)).isEqualTo(30);
        for (int i = 0; i < 20; i++) {
            streams.closed(first);
        }
        assertThat(openAll(second)).isEqualTo(10);
        assertThat(openAll(first)).isZero();
        assertThat(openAll(new Share("third"))).isEqualTo(20);
    }

    @Test
    void refusalNamesTheNumbers() {
        Share tenant = new Share("10.0.0.7");
        openAll(tenant);

        assertThat(streams.refusal(tenant))
                .contains("60 of 120 streams", "60 of them by the tenant 10.0.0.7", "more streams than are free");
    }

    @Test
    void streamsOfAConnectionAlsoCountForItsAddress() {
        Share address = new Share("address");
        Share connection = new Share("connection", address);

        openAll(connection);
        assertThat(address.openStreams()).isEqualTo(60);
        assertThat(streams.refusal(address)).isNotNull();
        for (int i = 0; i < 60; i++) {
            streams.closed(connection);
        }

        assertThat(streams.open()).isZero();
        assertThat(address.openStreams()).isZero();
    }
}
