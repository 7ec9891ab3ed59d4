package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import shop.Attic;

class SampledObjectsTest {

    private static final int SECONDS = 10; // the assumed age of the objects

    @TempDir
    Path directory;

    /** Records a thread that keeps some of the objects that it allocates. */
    private Path recording(Attic attic) throws Exception {
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.OldObjectSample").withStackTrace().with("cutoff", "0 ns");
            recording.enable("jdk.ObjectAllocationSample").with("throttle", "off");
            recording.start();
            Thread thread = new Thread(attic);
            thread.start();
            thread.join();
            System.gc(); // the recording contains only objects that have survived a collection
            recording.stop();
            recording.dump(file);
        }
        return file;
    }

    @Test
    void lineThatKeepsItsObjectsIsFoundAndNotTheLineThatAllocatesMore() throws Exception {
        Attic attic = new Attic();

        SampledObjects.Result found =
                SampledObjects.of(recording(attic), Instant.now().plusSeconds(SECONDS));

        assertThat(attic.kept()).isPositive();
        assertThat(found.kept()).contains("byte[] of Attic.keep:").contains("% of the sampled objects that stay)");
        // Other threads of the tests allocate as well, so the share of the line that allocates most may be too small.
        assertThat(found.allocated()).doesNotContain("Attic.keep");
    }

    @Test
    void youngObjectsDoNotCount() throws Exception {
        Attic attic = new Attic();

        assertThat(SampledObjects.of(recording(attic), Instant.now()).kept()).isEmpty();
        assertThat(attic.kept()).isPositive();
    }

    private static String main(int ofOne, int ofOthers) {
        SampledObjects.Places places = new SampledObjects.Places();
        for (int i = 0; i < ofOne; i++) {
            places.add("byte[] of Labels.press:31", 1);
        }
        for (int i = 0; i < ofOthers; i++) {
            places.add(i % 2 == 0 ? null : "String of Orders.find:" + i, 1);
        }
        return places.main("the objects");
    }

    @Test
    void placeIsNamedOnlyIfItStandsOut() {
        assertThat(main(15, 5)).isEqualTo("byte[] of Labels.press:31 (75 % of the objects)");
        assertThat(main(5, 15)).isEmpty();
        assertThat(main(6, 1)).isEmpty();
    }

    @Test
    void nothingIsKnownBeforeTheFirstSearch() {
        assertThat(new SampledObjects().found(System.nanoTime()).kept()).isEmpty();
    }
}
