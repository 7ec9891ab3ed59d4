package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.load.peer.LiveObjects.Counted;

class LiveObjectsTest {

    private static final LiveObjects BEFORE =
            new LiveObjects(100, 10, Map.of("[B", new Counted(3, 60), "com.example.A", new Counted(1, 40)));

    private static final LiveObjects NOW =
            new LiveObjects(400, 30, Map.of("[B", new Counted(5, 100), "com.example.A", new Counted(9, 300)));

    @Test
    void histogramIsReadByClass() {
        String histogram = """
             num     #instances         #bytes  class name (module)
            -------------------------------------------------------
               1:         43210        3456789  [B (java.base@17.0.15)
               2:             2             48  com.example.A
               3:             1             24  com.example.A
            Total         43213        3456861
            """;

        assertThat(LiveObjects.parse(histogram))
                .containsOnly(entry("[B", new Counted(43_210, 3_456_789)), entry("com.example.A", new Counted(3, 72)));
    }

    @Test
    void growthIsPerClass() {
        LiveObjects grown = NOW.since(BEFORE);

        assertThat(grown.heapBytes()).isEqualTo(300);
        assertThat(grown.directBytes()).isEqualTo(20);
        assertThat(grown.largest(1)).containsExactly(entry("com.example.A", new Counted(8, 260)));
    }

    @Test
    void writtenLineIsReadBack() {
        assertThat(LiveObjects.of(("live " + NOW.words()).split(" ", -1), 1)).isEqualTo(NOW);
    }

    @Test
    void ownObjectsAreCounted() {
        byte[][] kept = new byte[10][1_000_000];

        LiveObjects counted = LiveObjects.count();

        assertThat(counted.classes().get("[B").bytes()).isGreaterThan(kept.length * 1_000_000L);
        assertThat(counted.heapBytes())
                .isGreaterThan(counted.classes().get("[B").bytes());
    }
}
