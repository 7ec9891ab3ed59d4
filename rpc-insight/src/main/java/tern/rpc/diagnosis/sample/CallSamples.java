package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Shares;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.evidence.RunTime;
import tern.rpc.pool.ApplicationCode;

/** The thread samples of late or failed calls, grouped by call and by method. */
public final class CallSamples {

    /**
     * An operation's result counts as large if at least {@value} of the operation's samples show running code. In the
     * other samples, the thread waits for the server.
     */
    private static final double READING = 0.5;

    private static final Shares NONE = new Shares();

    private final Map<CallLedger, List<Sample>> byCall = new IdentityHashMap<>();
    private final Map<String, Shares> byMethod = new HashMap<>();

    private final LockOwners owners;
    private final double waitingShare;

    public CallSamples(List<EndedCall> bad, Map<CallLedger, SampledCall> samples) {
        this(bad, samples, 0);
    }

    /**
     * @param waitingShare how long threads wait for a processor, as a share of the time that they run or wait for a
     *     processor
     */
    public CallSamples(List<EndedCall> bad, Map<CallLedger, SampledCall> samples, double waitingShare) {
        this.waitingShare = waitingShare;
        Map<String, Map<CallLedger, List<Sample>>> found = new LinkedHashMap<>();
        List<SampledCall> withoutThread = new ArrayList<>(); // calls that have continued without a thread
        for (EndedCall call : bad) {
            SampledCall known = samples.get(call.ledger());
            if (known != null && !known.withoutThread.isEmpty()) {
                withoutThread.add(known);
            }
            if (known != null) {
                found.computeIfAbsent(call.method(), name -> new IdentityHashMap<>())
                        .put(call.ledger(), known.ofCall(call.ledger()));
            }
        }
        List<List<Sample>> all = new ArrayList<>();
        found.values().forEach(calls -> all.addAll(calls.values()));
        Map<String, String> holders = CommonNames.holders(all);
        found.forEach((method, calls) -> {
            CommonNames names = new CommonNames(CommonNames.caller(calls.values()), holders);
            Shares shares = new Shares(waitingShare);
            calls.forEach((ledger, list) -> {
                List<Sample> counted = list.stream().map(names::of).toList();
                byCall.put(ledger, counted);
                shares.add(counted);
                SampledCall known = samples.get(ledger);
                for (int i = 0; known != null && i < list.size(); i++) {
                    shares.addUse(counted.get(i).part(), known.runTimes.getOrDefault(list.get(i), RunTime.UNKNOWN));
                }
            });
            byMethod.put(method, shares);
        });
        this.owners = new LockOwners(byCall.values(), samples, withoutThread);
    }

    /** Returns what is known about the owners of the locks that calls wait for. */
    public LockOwners owners() {
        return owners;
    }

    /** Returns the estimated share of each activity in a call's time, computed from the call's samples. */
    public Shares of(CallLedger call) {
        Shares shares = new Shares(waitingShare);
        shares.add(list(call));
        return shares;
    }

    /** Returns the samples of a call, oldest first. */
    public List<Sample> list(CallLedger call) {
        return byCall.getOrDefault(call, List.of());
    }

    /**
     * Returns the estimated share of each activity in the time of a method's late or failed calls, computed from their
     * samples.
     */
    public Shares of(String method) {
        return byMethod.getOrDefault(method, NONE);
    }

    /**
     * Returns the shares of an operation's time that belong to other activities and waits, such as host name lookups,
     * over all late or failed calls. See {@link Shares#movedFrom}.
     */
    public Times movedFrom(Phase phase) {
        Times moved = new Times();
        double all = 0;
        for (Shares shares : byMethod.values()) {
            moved.addAll(shares.movedFrom(phase), shares.looks(phase));
            all += shares.looks(phase);
        }
        moved.scale(1 / Math.max(1, all));
        return moved;
    }

    /** Returns the samples that show the given activity or wait. */
    public List<Sample> in(Part part) {
        return all().stream().filter(sample -> sample.part().equals(part)).toList();
    }

    /** Returns the number of samples that show the given activity or wait. */
    public int looks(Part part) {
        int looks = 0;
        for (List<Sample> list : byCall.values()) {
            for (Sample sample : list) {
                looks += sample.part().equals(part) && sample.isOwn() ? 1 : 0;
            }
        }
        return looks;
    }

    /** Returns whether the processor time of the given code is known, see {@link Shares#isMeasured}. */
    public boolean isMeasured(Part code) {
        return byMethod.values().stream().anyMatch(shares -> shares.isMeasured(code));
    }

    /** Returns the number of samples taken during the calls' own time, that is, outside their operations. */
    public int ownLooks() {
        int looks = 0;
        for (List<Sample> list : byCall.values()) {
            for (Sample sample : list) {
                looks += sample.isOwn() ? 1 : 0;
            }
        }
        return looks;
    }

    /**
     * Returns the source line where threads were found most often during the given activity or wait, or null if there
     * is no sample.
     */
    @Nullable
    public StackTraceElement lineOf(Part part) {
        return line(sample -> sample.part().equals(part));
    }

    /**
     * Returns the most frequent source line of an activity or wait, together with the line that called it, for example
     * {@code Naps.millis:15, called from Stock.take:40}. Returns null if there is no sample.
     */
    @Nullable
    public String shownLineOf(Part part) {
        StackTraceElement line = lineOf(part);
        if (line == null) {
            return null;
        }
        return shown(line, sample -> sample.part().equals(part));
    }

    /**
     * Formats a source line, together with the line in another class that called it. Only samples that match the given
     * condition are searched.
     */
    private String shown(StackTraceElement line, Predicate<Sample> among) {
        for (Sample sample : all()) {
            if (line.equals(sample.line()) && among.test(sample)) {
                StackTraceElement caller = StackReader.callerOf(line, sample.path());
                if (caller != null) {
                    return ApplicationCode.shown(line) + ", called from " + ApplicationCode.shown(caller);
                }
            }
        }
        return ApplicationCode.shown(line);
    }

    /**
     * Formats a source line, together with the line in another class that called it. Only samples of the given phase
     * are searched.
     */
    public String shown(StackTraceElement line, Phase phase) {
        return shown(line, sample -> sample.phase() == phase);
    }

    /**
     * Returns the method that threads called most often during the given activity or wait. Returns null if no method
     * was called in more than a third of the samples.
     */
    @Nullable
    public String calledIn(Part part) {
        Map<String, Integer> called = new HashMap<>();
        int looks = 0;
        for (Sample sample : all()) {
            if (sample.part().equals(part) && sample.isOwnWork()) {
                looks++;
                if (sample.called() != null) {
                    called.merge(sample.called(), 1, Integer::sum);
                }
            }
        }
        int threshold = looks / 3;
        return called.entrySet().stream()
                .filter(entry -> entry.getValue() > threshold)
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns the line of application code that most often called one of the given methods; null if no line called one.
     */
    @Nullable
    public StackTraceElement lineCalling(String... methods) {
        List<String> wanted = List.of(methods);
        return line(sample -> sample.called() != null && wanted.contains(sample.called()));
    }

    /**
     * Returns the application methods (such as {@code Stock.take}) that were on the sampled stacks during the given
     * activity or wait, together with their callers.
     */
    private Set<String> innermostMethodsOf(Part part) {
        Set<String> methods = new HashSet<>();
        for (Sample sample : all()) {
            if (sample.part().equals(part)) {
                sample.path().stream().limit(2).map(ApplicationCode::method).forEach(methods::add);
            }
        }
        return methods;
    }

    /**
     * Returns whether a call runs an operation of the given kind between two of the given waits. The operation must run
     * in a waiting method, in the caller of a waiting method, or in code called by one of these.
     */
    public boolean isRepeatedBetween(Part wait, Phase phase) {
        Set<String> methods = innermostMethodsOf(wait);
        return byCall.values().stream().anyMatch(list -> isBetween(list, wait, phase, methods));
    }

    /** Returns whether the given line is in a method in which calls wait, or in the caller of such a method. */
    public boolean isNear(Part wait, @Nullable String line) {
        return line != null && innermostMethodsOf(wait).stream().anyMatch(method -> line.startsWith(method + ":"));
    }

    private static boolean isBetween(List<Sample> call, Part wait, Phase phase, Set<String> methods) {
        boolean waited = false;
        boolean repeated = false;
        for (Sample sample : call) {
            if (sample.part().equals(wait)) {
                if (repeated) {
                    return true;
                }
                waited = true;
            } else if (waited && sample.phase() == phase) {
                repeated |= sample.path().stream().map(ApplicationCode::method).anyMatch(methods::contains);
            }
        }
        return false;
    }

    /**
     * Returns the source line where threads were found most often during the given phase, or null if there is no
     * sample.
     */
    @Nullable
    public StackTraceElement lineIn(Phase phase) {
        return line(sample -> sample.phase() == phase);
    }

    /**
     * Returns the source line where threads were found most often during operations of the given kind with an accepted
     * name, or null if there is no sample.
     *
     * @param isWanted accepts the names of operations; the name is null if it is unknown
     */
    @Nullable
    public StackTraceElement lineIn(Phase phase, Predicate<@Nullable String> isWanted) {
        return line(sample -> sample.phase() == phase && isWanted.test(sample.nameOfOperation()));
    }

    /**
     * Returns the source line where the threads of the given calls were found most often during operations of the given
     * kind whose names are unknown, or null if there is no sample.
     */
    @Nullable
    public StackTraceElement lineIn(Phase phase, Set<CallLedger> calls) {
        List<Sample> samples = new ArrayList<>();
        calls.forEach(call -> samples.addAll(byCall.getOrDefault(call, List.of())));
        return most(
                samples, sample -> sample.phase() == phase && sample.nameOfOperation() == null ? sample.line() : null);
    }

    private @Nullable StackTraceElement line(Predicate<Sample> wanted) {
        return most(sample -> wanted.test(sample) ? sample.line() : null);
    }

    private @Nullable StackTraceElement most(Function<Sample, @Nullable StackTraceElement> chosen) {
        return most(all(), chosen);
    }

    static @Nullable StackTraceElement most(
            List<Sample> samples, Function<Sample, @Nullable StackTraceElement> chosen) {
        Map<StackTraceElement, Integer> lines = new HashMap<>();
        for (Sample sample : samples) {
            StackTraceElement line = chosen.apply(sample);
            if (line != null) {
                lines.merge(line, 1, Integer::sum);
            }
        }
        return lines.entrySet().stream()
                .max(Map.Entry.<StackTraceElement, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().toString()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns whether an operation's result is large: the calls spend a large part of the operation's time reading its
     * result, rather than waiting for the server.
     */
    public boolean areReadingResults(Phase phase) {
        int looks = 0;
        int computing = 0;
        for (Sample sample : all()) {
            if (sample.phase() == phase) {
                looks++;
                computing += sample.isComputing() ? 1 : 0;
            }
        }
        return looks > 0 && computing >= READING * looks;
    }

    public List<Sample> all() {
        List<Sample> all = new ArrayList<>();
        byCall.values().forEach(all::addAll);
        return all;
    }
}
