package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.registry.dubbo.KnownProcesses.Known;

/** Tests entries of one application that differ from an earlier entry in various parts. */
class KnownProcessesTest {

    private static final String FIRST = entry("10.0.0.1", 20880, Map.of("timestamp", "1795372294221", "zone", "a"));

    private final KnownProcesses processes = new KnownProcesses("shop");

    private static String entry(String host, int port, Map<String, String> attributes) {
        Map<String, String> all = new HashMap<>(attributes);
        all.putIfAbsent(ProcessEntry.REVISION, "r1");
        all.putIfAbsent(ProcessEntry.STORAGE, ProcessEntry.REMOTE);
        all.putIfAbsent(ProcessEntry.ENDPOINTS, ProcessEntry.endpoints(List.of(new ProcessEntry.Port("dubbo", port))));
        return new ProcessEntry("shop", host + ":" + port, host, port, all).json(1795372294326L);
    }

    /** Each tested text describes a change of the first entry, in the form {@code part -> replacement}. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.1 -> 10.0.0.2",
                "10.0.0.1 -> 2001:db8::7",
                "10.0.0.1 -> host.example",
                "10.0.0.1 -> a b",
                "10.0.0.1 -> a\\u0062",
                "1795372294221 -> 1795372299999",
                "1795372294221 -> -5",
                "1795372294221 -> ",
                "1795372294221 -> yesterday",
                "1795372294221 -> 99999999999999999999",
                "1795372294326 -> 7",
                "1795372294326 -> seven",
                "20880 -> 20881",
                "\"zone\":\"a\" -> \"zone\":\"b\"",
                "\"zone\":\"a\" -> \"zone\":\"a\",\"weight\":\"7\"",
                "\"zone\":\"a\" -> \"zone\":\"a\",\"timestamp\":\"9\"",
                "\"timestamp\":\"1795372294221\" -> \"start\":\"1795372294221\"",
                "\"timestamp\":\"1795372294221\" -> \"timestamp\":1795372294221",
                "\"sslPort\":null -> \"sslPort\":null,\"address\":\"10.9.9.9\"",
                "\"sslPort\":null -> \"sslPort\":null,\"\\u0061ddress\":\"10.9.9.9\"",
                "\"sslPort\":null -> \"sslPort\":null,\"x\\\"address\":\"10.9.9.9\"",
                "\"sslPort\":null -> \"sslPort\":{\"address\":\"10.9.9.9\"}",
                "\"address\":\"10.0.0.1\" -> \"address\" : \"10.0.0.3\"",
                "\"address\":\"10.0.0.1\", -> ",
                "\"uriSpec\":null} -> \"uriSpec\":null",
                "\"uriSpec\":null} -> \"uriSpec\":null}}",
                "\"dubbo.metadata.revision\":\"r1\" -> \"dubbo.metadata.revision\":\"0\"",
                "\"dubbo.metadata.revision\":\"r1\" -> \"dubbo.metadata.revision\":\"r2\"",
                "\"metadata\" -> \"other\""
            })
    void entryIsReadAsIfItWereTheOnlyOne(String replacement) {
        String[] parts = replacement.split(" -> ", 2);
        assertThat(FIRST).contains(parts[0]);
        String text = FIRST.replace(parts[0], parts[1]);

        assertThat(processes.parse(FIRST)).isNotNull();

        assertThat(outcome(processes::parse, text)).isEqualTo(outcome(new KnownProcesses("shop")::parse, text));
        assertThat(outcome(processes::parse, FIRST)).isEqualTo(outcome(new KnownProcesses("shop")::parse, FIRST));
    }

    /** Parses the text. Returns the parsed entry, or the message of the exception that the parser throws. */
    private static Object outcome(Function<String, Known> parser, String text) {
        try {
            return String.valueOf(parser.apply(text));
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void onlyTheFirstEntryOfAConfigurationIsParsedCompletely() {
        String next = FIRST.replace("10.0.0.1", "10.0.0.2").replace("1795372294221", "1795372299999");
        Known first = processes.parse(FIRST);
        Known second = processes.parse(next);
        long repeated = allocatedBytes(() -> processes.parse(next));
        long complete = allocatedBytes(() -> new KnownProcesses("shop").parse(next));

        assertThat(second).isEqualTo(new KnownProcesses("shop").parse(next));
        assertThat(second.shared()).isSameAs(first.shared());
        assertThat(repeated).isLessThan(complete / 2);
    }

    private static long allocatedBytes(Runnable action) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 50; i++) {
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            action.run();
            least = Math.min(
                    least,
                    threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before);
        }
        return least;
    }

    @Test
    void onlyAttributesThatAConsumerUsesAreKept() {
        String long1 = "x".repeat(Limits.MAX_ATTRIBUTE + 1);
        Known known = processes.parse(entry("10.0.0.1", 20880, Map.of("note", "x", "zone", long1, "weight", "7")));

        assertThat(known).isNotNull();
        assertThat(known.attribute("weight")).isEqualTo("7");
        assertThat(known.attribute("zone")).isNull();
        assertThat(known.shared().attributes()).containsOnlyKeys("weight", ProcessEntry.REVISION, ProcessEntry.STORAGE);
        assertThat(known.port("dubbo")).isEqualTo(20880);
    }

    @ParameterizedTest
    @ValueSource(strings = {ProcessEntry.SERVICE_PARAMETERS, "dubbo.tag", "token"})
    void attributeWithoutWhichCallsWouldFailMayBeLong(String name) {
        String value = "x".repeat(10_000);
        Known known = processes.parse(entry("10.0.0.1", 20880, Map.of(name, value)));

        assertThat(known).isNotNull();
        assertThat(known.attribute(name)).isEqualTo(value);
    }

    @Test
    void entriesThatAreTooLongTogetherAreRefusedUntilOthersHaveGone() {
        String tag = "x".repeat(60_000);
        List<Known> accepted = new ArrayList<>();
        int number = KnownProcesses.MAX_CHARACTERS / tag.length();
        for (int i = 0; i < number - 1; i++) {
            accepted.add(processes.parse(entry("10.0.0.1", 20880, Map.of("dubbo.tag", i + tag))));
        }
        String another = entry("10.0.0.1", 20880, Map.of("dubbo.tag", "another" + tag));
        String same = entry("10.0.0.2", 20880, Map.of("dubbo.tag", 0 + tag));
        String last = entry("10.0.0.1", 20880, Map.of("dubbo.tag", "last" + tag));

        processes.parse(last);
        assertThatThrownBy(() -> processes.parse(another))
                .isInstanceOf(KnownProcesses.NoRoomException.class)
                .hasMessage("the attributes of all processes of the application have more than 16777216 characters");
        assertThat(processes.parse(same)).isNotNull();

        processes.retain(accepted.subList(0, 10));
        assertThat(processes.parse(another)).isNotNull();
    }

    @Test
    void entryWithALongRevisionIsRefused() {
        String revision = "r".repeat(Limits.MAX_NAME + 1);

        assertThatThrownBy(() -> processes.parse(entry("10.0.0.1", 20880, Map.of(ProcessEntry.REVISION, revision))))
                .hasMessage("the length of the revision is 513, more than 512");
    }
}
