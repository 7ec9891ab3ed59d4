package garden.blind;

import garden.run.Fault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Pairs of faults that are injected at the same time. */
final class BlindPairs {

    private BlindPairs() {}

    static List<Fault> all() {
        List<Fault> single = new ArrayList<>(InnerFaults.all());
        single.addAll(OuterFaults.all());
        Map<String, Fault> by = single.stream().collect(Collectors.toMap(Fault::name, Function.identity()));
        return List.of(
                pair("pair-2", by, "lock-2", "errors-2"),
                pair("pair-4", by, "lock-6", "downstream-4"),
                pair("pair-6", by, "network-4", "disk-2"),
                pair("pair-8", by, "code-2", "http-6"),
                pair("pair-10", by, "sql-4", "executors-6"),
                pair("pair-12", by, "redis-2", "collector-2"),
                pair("pair-14", by, "virtual-2", "virtual-4"),
                pair("pair-16", by, "web-2", "web-4"));
    }

    private static Fault pair(String name, Map<String, Fault> by, String one, String other) {
        return Fault.pair(name, Objects.requireNonNull(by.get(one)), Objects.requireNonNull(by.get(other)));
    }
}
