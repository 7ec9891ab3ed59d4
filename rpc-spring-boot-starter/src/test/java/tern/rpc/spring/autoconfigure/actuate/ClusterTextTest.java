package tern.rpc.spring.autoconfigure.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.EndpointSnapshot;

class ClusterTextTest {

    private static String text(int passedOver) {
        ClusterPart.ProviderList list = new ClusterPart.ProviderList(
                "shop", EndpointSnapshot.State.FRESH, Instant.EPOCH, "", 20_000, passedOver, 0, null, "");
        return ClusterText.of(new ClusterPart.Report(
                Instant.EPOCH, List.of(new ClusterPart.Reference("example.Stock", list, List.of(), 0, 0, 0))));
    }

    @Test
    void replacedProvidersAreCountedIfThereAreAny() {
        assertThat(text(0)).endsWith(", 20000 providers of shop\n");
        assertThat(text(37))
                .endsWith(", 20000 providers of shop; 37 could not be reached and are replaced with others\n");
    }
}
