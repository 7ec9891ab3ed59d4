package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Catalog;

class RecordingSummaryTest {

    private static volatile byte[] last = {};

    @TempDir
    Path directory;

    private static void allocate() {
        for (int i = 0; i < 100; i++) {
            last = new byte[8_000_000];
        }
    }

    @Test
    void summaryLeavesOutTheDiagnosisItself() throws Exception {
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ObjectAllocationSample").with("throttle", "off");
            recording.start();
            for (Thread thread : List.of(new Thread(RecordingSummaryTest::allocate), new Thread(new Catalog()))) {
                thread.start();
                thread.join();
            }
            recording.stop();
            recording.dump(file);
        }

        List<String> lines = RecordingSummary.of(file);

        assertThat(last).hasSize(Catalog.lastLength());
        assertThat(lines).anyMatch(line -> line.startsWith("allocates") && line.contains("Catalog.run"));
        assertThat(lines).noneMatch(line -> line.contains("RecordingSummaryTest"));
    }

    @ParameterizedTest
    @CsvSource({"shop.Order, Order", "[B, byte[]", "[[I, int[][]", "[Lshop.Order;, Order[]"})
    void classesAreShownWithoutTheirPackage(String type, String shown) {
        assertThat(RecordingSummary.simple(type)).isEqualTo(shown);
    }

    @Test
    void recordingThatWasStoppedBeforeItsEndIsNotStoppedAgain() {
        try (Recording recording = new Recording()) {
            recording.start();
            boolean ended = FlightRecording.stop(recording);

            assertThat(ended).isTrue();
            assertThat(FlightRecording.stop(recording)).isFalse();
        }
    }
}
