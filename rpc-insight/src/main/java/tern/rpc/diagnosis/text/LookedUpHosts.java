package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.FailedPeer;
import tern.rpc.diagnosis.pool.PoolVerdict;

/**
 * Finds the host names that threads are looking up. A stack does not contain the host name, so it is taken from the
 * call's operation, or from the address of the pool's server.
 */
final class LookedUpHosts {

    private static final int MAX_HOSTS = 3;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;

    LookedUpHosts(Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
    }

    /** Returns the hosts, most frequent first, separated by commas; empty if none is known. */
    String text() {
        Times found = new Times(); // for each host, the number of samples
        for (ExcessTime.Counted counted : excess.accounts) {
            for (Sample sample : excess.samples.list(counted.call().ledger())) {
                if (sample.part().kind() == Kind.RESOLVER) {
                    addresses(counted, sample)
                            .map(LookedUpHosts::name)
                            .filter(Objects::nonNull)
                            .forEach(host -> found.add(new Part(Kind.RESOLVER, host), 1));
                }
            }
        }
        if (found.isEmpty()) {
            ofAwaited().forEach(host -> found.add(new Part(Kind.RESOLVER, host), 1));
        }
        return String.join(
                ", ",
                found.longestFirst().stream().limit(MAX_HOSTS).map(Part::name).toList());
    }

    /** Returns the addresses to which the sampled call connects. */
    private Stream<String> addresses(ExcessTime.Counted counted, Sample sample) {
        if (sample.phase() == Phase.JDBC_CONNECTION || sample.phase() == Phase.REDIS_CONNECTION) {
            return counted.times().only(part -> part.kind() == Kind.POOL).longestFirst().stream()
                    .map(wait -> evidence.answers().address(wait.name()))
                    .filter(Objects::nonNull);
        }
        Phase phase = sample.phase() == Phase.RPC ? Phase.RPC : Phase.HTTP;
        String operation = sample.nameOfOperation();
        Part longest = operation == null ? FailedPeer.longest(counted.call(), phase) : null;
        String name = operation != null ? operation : longest != null ? longest.name() : "";
        return Stream.of(OperationNames.store(name));
    }

    /** Returns the hosts of the operations and pools that late calls wait for while other threads look up names. */
    private List<String> ofAwaited() {
        List<String> hosts = new ArrayList<>();
        for (Part part : excess.account.longestFirst()) {
            PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            boolean isExchange = part.kind() == Kind.HTTP || part.kind() == Kind.RPC;
            String address = pool != null
                    ? evidence.answers().address(pool.name())
                    : isExchange ? OperationNames.store(part.name()) : null;
            String host = address == null ? null : name(address);
            if (host != null && !hosts.contains(host) && excess.times.of(part) >= evidence.targetNanos()) {
                hosts.add(host);
            }
        }
        return hosts;
    }

    /** Returns the host in the given address; null for an IP address, which needs no lookup. */
    private static @Nullable String name(String address) {
        int port = address.lastIndexOf(':');
        String host = port < 0 ? address : address.substring(0, port);
        boolean isName = host.chars().anyMatch(character -> Character.isLetter(character));
        return isName && !host.startsWith("[") ? host : null;
    }
}
