package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import tern.rpc.registry.JsonReader;

/** Tests entries with very many keys, and very large numbers of entries. */
class ManyEntriesTest {

    private static final int MILLION = 1_000_000;

    /**
     * The number of simulated processes of one application. The system property {@code tern.registry.processes} changes
     * this number.
     */
    private static final int PROCESSES = Integer.getInteger("tern.registry.processes", 100_000);

    /** Runs code that must throw an exception. Returns the number of bytes that the code has allocated. */
    private static long allocatedBytes(ThrowingCallable refused) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        assertThatThrownBy(refused).isInstanceOf(IllegalArgumentException.class);
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    }

    private static String object(int keys) {
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < keys; i++) {
            json.append("\"k").append(i).append("\":\"v\",");
        }
        return json.append("\"last\":1}").toString();
    }

    @Test
    void millionKeysAreRefusedAfterTheFirstOnes() {
        String json = object(MILLION);
        String url = "dubbo://h:1/a.B?" + "key=value&".repeat(MILLION);
        String names = "app,".repeat(MILLION);

        assertThat(allocatedBytes(() -> ProcessEntry.parse(json))).isLessThan(100_000);
        assertThat(allocatedBytes(() -> ApplicationMetadata.parse(json))).isLessThan(100_000);
        assertThat(allocatedBytes(() -> ProviderUrl.parse(url))).isLessThan(100_000);
        assertThat(allocatedBytes(() -> Mapping.parse(names))).isLessThan(100_000);
        assertThat(allocatedBytes(() -> JsonReader.readObject(json, Limits.MAX_KEYS)))
                .isLessThan(1_000_000);
    }

    @Test
    void longestAcceptedMetadataWithAsManyKeysAsPossibleIsRefusedToo() {
        String json = "{\"services\":" + object(80_000) + "}";

        assertThat(json.length()).isLessThan(Limits.MAX_METADATA);
        assertThatThrownBy(() -> ApplicationMetadata.parse(json)).hasMessageContaining("more than 5000");
    }

    @Test
    void processesThatDifferInAddressAndStartShareTheirAttributes() {
        KnownProcesses processes = new KnownProcesses("shop");
        List<KnownProcesses.Known> known = new ArrayList<>();
        Set<Integer> shared = new HashSet<>();

        for (int i = 0; i < PROCESSES; i++) {
            String host = "10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255);
            KnownProcesses.Known process = processes.parse(entry(host, "r" + i % 3, String.valueOf(1_000 + i)));
            assertThat(process).isNotNull();
            known.add(process);
            shared.add(System.identityHashCode(process.shared()));
        }

        assertThat(shared).hasSize(3);
        KnownProcesses.Known last = known.get(PROCESSES - 1);
        assertThat(last.attribute(ProcessEntry.TIMESTAMP)).isEqualTo(String.valueOf(999 + PROCESSES));
        assertThat(last.attribute(ProcessEntry.STORAGE)).isEqualTo("remote");
        assertThat(last.port("tri")).isEqualTo(50051);
        assertThat(last.port("other")).isEqualTo(20880);
        assertThat(last.entry().revision()).isEqualTo(last.revision());
    }

    private static String entry(String host, String revision, String timestamp) {
        return new ProcessEntry(
                        "another",
                        host + ":20880",
                        host,
                        20880,
                        Map.of(
                                ProcessEntry.ENDPOINTS,
                                ProcessEntry.endpoints(List.of(
                                        new ProcessEntry.Port("dubbo", 20880), new ProcessEntry.Port("tri", 50051))),
                                ProcessEntry.REVISION,
                                revision,
                                ProcessEntry.STORAGE,
                                ProcessEntry.REMOTE,
                                ProcessEntry.TIMESTAMP,
                                timestamp))
                .json(1);
    }

    @Test
    void invalidStartCountsAsUnknown() {
        KnownProcesses.Known process = new KnownProcesses("shop").parse(entry("h", "r", "yesterday"));

        assertThat(process).isNotNull();
        assertThat(process.startedAtMillis()).isZero();
        assertThat(process.application()).isEqualTo("shop");
    }
}
