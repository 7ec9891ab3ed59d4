package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;

/** Tests the advice for calls that wait while another call computes a value for the same map. */
class CacheLoadsTest {

    private static String change(String called) {
        StackTraceElement line = new StackTraceElement("shop.Rates", "discount", "Rates.java", 25);
        Part wait = new Part(Part.Kind.LOCK, "monitor of ConcurrentHashMap held in Rates.discount");
        return new SampledCalls()
                .calls("web.GET /quotes", Phase.OWN, 300, samples -> {
                    for (int i = 0; i < 4; i++) {
                        samples.add(new Sample(
                                i, Phase.OWN, wait, List.of(line), called, line, "exec-8", false, null, -1, -1));
                    }
                })
                .causes()
                .get(0)
                .change()
                .text();
    }

    @ParameterizedTest
    @ValueSource(strings = {"LocalManualCache.get", "LocalLoadingCache.get", "CaffeineCache.get"})
    void loaderOfACacheIsNotMovedInFrontOfIt(String called) {
        assertThat(change(called)).contains("refreshAfterWrite").doesNotContain("computeIfAbsent");
    }

    @Test
    void valueOfAMapIsComputedBeforeItIsStored() {
        assertThat(change("ConcurrentHashMap.computeIfAbsent")).contains("before computeIfAbsent");
    }
}
