package tern.rpc.diagnosis.rule;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;

/**
 * Merges exchanges that follow redirects into the first exchange of the chain. Each exchange of the chain may be quick,
 * so the duration of a single exchange is not the cause. The cause is the peer that answers with redirects, or the use
 * of an address that the peer redirects.
 */
public final class Redirects {

    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;

    public Redirects(ExcessTime excess, Operations operations, OperationCounts counts) {
        this.excess = excess;
        this.operations = operations;
        this.counts = counts;
    }

    /** Merges the exchanges of redirected calls, if calls are redirected more often than usual. */
    void merge(TimesByCause byCause) {
        Times redirected = byCause.only(part -> part.kind() == Kind.HTTP && OperationNames.isRedirected(part.name()));
        if (redirected.isEmpty() || !counts.areMoreRedirects()) {
            return;
        }
        Part first = first(redirected);
        String last = finalExchange();
        for (Part part : byCause.longestFirst()) {
            boolean isLast = part.kind() == Kind.HTTP && part.name().equals(last);
            if (isLast || redirected.of(part) > 0) {
                byCause.move(part, first);
            }
        }
    }

    /**
     * Returns the longest redirected exchange that is usually not redirected. If there is no such exchange, returns the
     * longest redirected exchange.
     */
    private Part first(Times redirected) {
        return redirected.longestFirst().stream()
                .filter(part -> operations.usualNamed(Phase.HTTP, OperationNames.withoutStatus(part.name())) >= 0)
                .findFirst()
                .orElse(redirected.longestFirst().get(0));
    }

    /**
     * Returns the exchange to which the redirects finally lead. Only redirected calls make this exchange. Returns null
     * if it is unknown.
     */
    @Nullable
    public String finalExchange() {
        Map<String, Integer> candidates = new HashMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            Map<String, Integer> names = counted.call().ledger().named().stream()
                    .filter(entry -> entry.kind() == Phase.HTTP)
                    .collect(Collectors.toMap(NamedTimes.Entry::name, NamedTimes.Entry::count, Integer::sum));
            if (names.keySet().stream().anyMatch(OperationNames::isRedirected)) {
                names.forEach((name, count) -> candidates.merge(name, count, Integer::sum));
            }
        }
        return candidates.entrySet().stream()
                .filter(entry -> !OperationNames.isRedirected(entry.getKey())
                        && !OperationNames.isFailing(entry.getKey())
                        && counts.areNew(new Part(Kind.HTTP, entry.getKey())))
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
