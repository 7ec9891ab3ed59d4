package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Sampler.Samples;
import tern.rpc.pool.ApplicationCode;

/** The samples of bad calls, by call and by method. Code that computes in many small methods counts for their caller. */
final class CallSamples {

    /** A method found in this share of the looks at computing code is hot by itself. */
    private static final double HOT = 0.4;

    /** A caller of small methods has to be on this share of the stacks. */
    private static final double COMMON = 0.7;

    private static final Shares NONE = new Shares();

    private final Map<CallLedger, List<Sample>> byCall = new IdentityHashMap<>();
    private final Map<String, Shares> byMethod = new HashMap<>();

    CallSamples(List<EndedCall> bad, Map<CallLedger, Samples> samples) {
        Map<String, Map<CallLedger, List<Sample>>> found = new LinkedHashMap<>();
        for (EndedCall call : bad) {
            Samples known = samples.get(call.ledger());
            if (known != null) {
                found.computeIfAbsent(call.method(), name -> new IdentityHashMap<>())
                        .put(call.ledger(), List.copyOf(known.list));
            }
        }
        found.forEach((method, calls) -> {
            String caller = commonCaller(calls.values());
            Shares shares = new Shares();
            calls.forEach((ledger, list) -> {
                List<Sample> counted = caller == null
                        ? list
                        : list.stream().map(one -> at(one, caller)).toList();
                byCall.put(ledger, counted);
                shares.add(counted);
            });
            byMethod.put(method, shares);
        });
    }

    private static Sample at(Sample sample, String caller) {
        if (sample.isComputing()) {
            for (int i = 0; i < sample.path().size(); i++) {
                if (ApplicationCode.method(sample.path().get(i)).equals(caller)) {
                    return sample.at(i, caller);
                }
            }
        }
        return sample;
    }

    /** The innermost method that most of the computing stacks share; null if one method is hot by itself. */
    private static @Nullable String commonCaller(Iterable<List<Sample>> calls) {
        Map<String, Integer> innermost = new HashMap<>();
        Map<String, Integer> anywhere = new HashMap<>();
        Map<String, Integer> depths = new HashMap<>();
        int all = 0;
        for (List<Sample> list : calls) {
            for (Sample sample : list) {
                if (!sample.isOwn() || !sample.isComputing() || sample.path().isEmpty()) {
                    continue;
                }
                all++;
                List<String> path = sample.path().stream()
                        .map(ApplicationCode::method)
                        .distinct()
                        .toList();
                innermost.merge(path.get(0), 1, Integer::sum);
                for (int i = 0; i < path.size(); i++) {
                    anywhere.merge(path.get(i), 1, Integer::sum);
                    depths.merge(path.get(i), i, Integer::sum);
                }
            }
        }
        int looks = all;
        if (innermost.values().stream().anyMatch(count -> count >= HOT * looks)) {
            return null;
        }
        String best = null;
        double least = Double.MAX_VALUE;
        for (Map.Entry<String, Integer> entry : anywhere.entrySet()) {
            double depth = (double) depths.getOrDefault(entry.getKey(), 0) / entry.getValue();
            if (entry.getValue() >= COMMON * looks && depth < least) {
                least = depth;
                best = entry.getKey();
            }
        }
        return best;
    }

    /** How the samples of a call divide its time. */
    Shares of(CallLedger call) {
        Shares shares = new Shares();
        shares.add(byCall.getOrDefault(call, List.of()));
        return shares;
    }

    /** How the samples of a method's bad calls divide their time. */
    Shares of(String method) {
        return byMethod.getOrDefault(method, NONE);
    }

    /** The number of looks that found this part. */
    int looks(Part part) {
        int looks = 0;
        for (List<Sample> list : byCall.values()) {
            for (Sample sample : list) {
                looks += sample.part().equals(part) && sample.isOwn() ? 1 : 0;
            }
        }
        return looks;
    }

    /** The line in which threads were found in this part most often; null if none was recorded. */
    @Nullable
    StackTraceElement lineOf(Part part) {
        return line(sample -> sample.part().equals(part));
    }

    /** The line in which threads were found in this phase most often; null if none was recorded. */
    @Nullable
    StackTraceElement lineIn(Phase phase) {
        return line(sample -> sample.phase() == phase);
    }

    private @Nullable StackTraceElement line(Predicate<Sample> wanted) {
        Map<StackTraceElement, Integer> lines = new HashMap<>();
        for (Sample sample : all()) {
            StackTraceElement line = sample.line();
            if (line != null && wanted.test(sample)) {
                lines.merge(line, 1, Integer::sum);
            }
        }
        return lines.entrySet().stream()
                .max(Map.Entry.<StackTraceElement, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().toString()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** The operation that owners of this lock run in at least half of the looks; null if there is none. */
    @Nullable
    Phase ownersIn(Part lock) {
        Map<Phase, Integer> phases = new HashMap<>();
        int all = 0;
        for (Sample sample : all()) {
            if (sample.part().equals(lock)) {
                all++;
                Phase phase = sample.ownerPhase();
                if (phase != null && phase.isOperation()) {
                    phases.merge(phase, 1, Integer::sum);
                }
            }
        }
        int looks = all;
        return phases.entrySet().stream()
                .filter(entry -> entry.getValue() * 2 >= looks)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** The share of looks in this phase that found the thread computing. */
    double computingIn(Phase phase) {
        int looks = 0;
        int computing = 0;
        for (Sample sample : all()) {
            if (sample.phase() == phase) {
                looks++;
                computing += sample.isComputing() ? 1 : 0;
            }
        }
        return looks == 0 ? 0 : (double) computing / looks;
    }

    private List<Sample> all() {
        List<Sample> all = new ArrayList<>();
        byCall.values().forEach(all::addAll);
        return all;
    }
}
