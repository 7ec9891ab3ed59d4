package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SampledObjectsTest {

    /**
     * A recording of JDK 17 with allocation samples and old objects. The recorded thread ran a loop in which
     * {@code Attic.keep} allocated an array of 8,000 bytes and kept it, and {@code Attic.waste} allocated two arrays of
     * 40,000 bytes, which it did not keep. The file is used instead of a new recording, because other threads of the
     * tests would also allocate objects.
     */
    private static final String RECORDING = "/evidence/kept-objects.jfr";

    private static final Instant RECORDED = Instant.parse("2026-12-01T17:23:41Z");
    private static final Duration AGE = Duration.ofSeconds(10); // the assumed age of the recorded objects

    private static Path recording() throws URISyntaxException {
        return Path.of(Objects.requireNonNull(SampledObjectsTest.class.getResource(RECORDING))
                .toURI());
    }

    @Test
    void lineThatKeepsItsObjectsIsFoundAndNotTheLineThatAllocatesMore() throws Exception {
        SampledObjects.Result found = SampledObjects.of(recording(), RECORDED.plus(AGE));

        assertThat(found.kept()).contains("byte[] of Attic.keep:").contains("% of the sampled objects that stay)");
        assertThat(found.allocated()).contains("of Attic.waste:").contains("% of the allocated memory)");
    }

    @Test
    void youngObjectsDoNotCount() throws Exception {
        assertThat(SampledObjects.of(recording(), RECORDED).kept()).isEmpty();
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
