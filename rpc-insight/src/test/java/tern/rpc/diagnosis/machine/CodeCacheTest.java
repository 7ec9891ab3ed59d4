package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.MemoryUsage;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CodeCacheTest {

    private static final String PROFILED = "CodeHeap 'profiled nmethods'";
    private static final String OTHER = "CodeHeap 'non-profiled nmethods'";
    private static final String JVM = "CodeHeap 'non-nmethods'";

    private static MemoryUsage used(long percent) {
        return new MemoryUsage(0, percent, 100, 100);
    }

    @Test
    void memoryIsNotFullWhileOneOfItsPartsHasRoom() {
        assertThat(CodeCache.share(Map.of(PROFILED, used(99), OTHER, used(40), JVM, used(20))))
                .isLessThan(CodeCache.FULL);
    }

    @Test
    void memoryIsFullIfAllPartsForCompiledCodeAre() {
        assertThat(CodeCache.share(Map.of(PROFILED, used(99), OTHER, used(98), JVM, used(20))))
                .isGreaterThanOrEqualTo(CodeCache.FULL);
        assertThat(CodeCache.share(Map.of("CodeCache", used(98)))).isGreaterThanOrEqualTo(CodeCache.FULL);
    }

    @Test
    void thisJvmHasMemoryForCompiledCode() {
        assertThat(CodeCache.share()).isBetween(0.0001, 1.0);
    }
}
