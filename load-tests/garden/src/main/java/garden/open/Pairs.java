package garden.open;

import garden.run.Fault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Pairs of faults that are injected at the same time. */
final class Pairs {

    private Pairs() {}

    static List<Fault> all() {
        List<Fault> single = new ArrayList<>(KnownFaults.all());
        single.addAll(CodeFaults.all());
        single.addAll(StoreFaults.all());
        single.addAll(PeerFaults.all());
        Map<String, Fault> by = single.stream().collect(Collectors.toMap(Fault::name, Function.identity()));
        return List.of(
                pair("pair-1", by, "table-3", "table-5"),
                pair("pair-3", by, "table-2", "http-1"),
                pair("pair-5", by, "lock-1", "errors-1"),
                pair("pair-7", by, "table-1", "lock-3"),
                pair("pair-9", by, "network-1", "executors-1"),
                pair("pair-11", by, "disk-1", "http-5"),
                pair("pair-13", by, "redis-1", "code-5"));
    }

    private static Fault pair(String name, Map<String, Fault> by, String one, String other) {
        return Fault.pair(name, Objects.requireNonNull(by.get(one)), Objects.requireNonNull(by.get(other)));
    }
}
