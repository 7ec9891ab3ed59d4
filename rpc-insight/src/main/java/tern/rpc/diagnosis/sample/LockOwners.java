package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.pool.ApplicationCode;

/**
 * What the samples show about the owners of locks, permits and pooled objects that late or failed calls wait for: the
 * threads that the JVM reports as owners, and the calls that most likely own them.
 */
public final class LockOwners {

    private final Collection<List<Sample>> calls;
    private final Map<CallLedger, SampledCall> samples;
    private final List<SampledCall> withoutThread;
    private final Map<Part, List<Sample>> mayHold = new HashMap<>(); // the samples of possible holders, by wait

    /**
     * @param calls the samples of each late or failed call
     * @param samples the samples of all calls, including those whose records were replaced
     * @param withoutThread the late or failed calls that have continued without a thread
     */
    LockOwners(Collection<List<Sample>> calls, Map<CallLedger, SampledCall> samples, List<SampledCall> withoutThread) {
        this.calls = calls;
        this.samples = samples;
        this.withoutThread = withoutThread;
    }

    /** Returns the most frequent source line in the samples of the lock's owners; null if there is no sample. */
    @Nullable
    public StackTraceElement ownersLineOf(Part lock) {
        return most(sample -> sample.part().equals(lock) ? sample.doing() : null);
    }

    /**
     * Returns the most frequent activity of the lock's owners; null if no activity appears in at least half of the
     * samples.
     */
    @Nullable
    public Kind ownersWorkIn(Part lock) {
        Map<Kind, Integer> kinds = new EnumMap<>(Kind.class);
        int looks = 0;
        for (Sample sample : all()) {
            if (sample.part().equals(lock)) {
                looks++;
                Part work = sample.ownersPart();
                if (work != null) {
                    kinds.merge(work.kind(), 1, Integer::sum);
                }
            }
        }
        int threshold = looks;
        return kinds.entrySet().stream()
                .filter(entry -> 2 * entry.getValue() >= threshold)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns the name of the thread that most often held the given lock or initialized the given class, or null if
     * there is no sample.
     */
    @Nullable
    public String ownerOf(Part lock) {
        Map<String, Integer> names = new HashMap<>();
        for (Sample sample : all()) {
            if (sample.part().equals(lock) && sample.owner() != null) {
                names.merge(sample.owner(), 1, Integer::sum);
            }
        }
        return names.entrySet().stream()
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns whether operations of the given kind mostly run in the code that holds the lock, or in code that it
     * calls. If the owner of the lock is unknown, the methods that wait for the lock are assumed to hold it, too.
     */
    public boolean isRunIn(Part lock, Phase phase) {
        Set<StackTraceElement> holding = new HashSet<>();
        Set<String> methods = new HashSet<>();
        for (Sample sample : all()) {
            StackTraceElement line = sample.line();
            if (sample.part().equals(lock) && line != null) {
                holding.add(line);
                if (sample.owner() == null) {
                    methods.add(ApplicationCode.method(line));
                }
            }
        }
        int looks = 0;
        int held = 0;
        for (Sample sample : all()) {
            if (sample.phase() == phase) {
                looks++;
                held += sample.path().stream()
                                .anyMatch(frame ->
                                        holding.contains(frame) || methods.contains(ApplicationCode.method(frame)))
                        ? 1
                        : 0;
            }
        }
        return held > 0 && 2 * held >= looks;
    }

    /**
     * Returns the operation that the lock's owners were running in at least half of the samples, or null if there is no
     * such operation.
     */
    @Nullable
    public Phase ownersIn(Part lock) {
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
        Phase known = phases.entrySet().stream()
                .filter(entry -> entry.getValue() * 2 >= looks)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
        return known == null && ownerOf(lock) == null ? likelyOwnersIn(lock) : known;
    }

    /**
     * Returns the operation that the lock's likely owners run; null if there is none. The JVM reports neither the
     * virtual thread that owns a lock nor the owners of permits.
     */
    private @Nullable Phase likelyOwnersIn(Part lock) {
        LikelyHolders.Activity activity = likelyHolders(lock);
        return activity == null || !activity.phase().isOperation() ? null : activity.phase();
    }

    /**
     * Returns the activity of the calls that most likely hold the lock, permit or pooled object that other calls wait
     * for; null if unknown.
     */
    public LikelyHolders.@Nullable Activity likelyHolders(Part wait) {
        LikelyHolders.Activity ofThreads = LikelyHolders.of(wait, mayHold(wait));
        return ofThreads == null ? LikelyHolders.withoutThread(wait, withoutThread) : ofThreads;
    }

    /**
     * Returns the samples of calls that may hold the permit or object that other calls wait for. If a long queue of
     * calls waits, few samples show a holder, so the samples of calls whose records newer calls have replaced are used
     * as well.
     */
    private List<Sample> mayHold(Part wait) {
        return mayHold.computeIfAbsent(wait, this::findMayHold);
    }

    private List<Sample> findMayHold(Part wait) {
        List<Sample> recorded = LikelyHolders.mayHold(wait, calls);
        return LikelyHolders.of(wait, recorded) != null
                ? recorded
                : LikelyHolders.mayHold(
                        wait,
                        samples.entrySet().stream()
                                .map(call -> call.getValue().withHolding(call.getKey()))
                                .toList());
    }

    /** Returns the samples of the calls that most likely hold the lock, permit or object that other calls wait for. */
    public List<Sample> ofLikelyHolders(Part wait) {
        return LikelyHolders.holders(wait, mayHold(wait));
    }

    /**
     * Returns the most frequent source line in the samples of the likely holders; null if there is no sample. Only
     * samples with the given activity count. A likely holder is a call that most likely holds the lock, permit or
     * pooled object that other calls wait for.
     */
    @Nullable
    public StackTraceElement lineOfLikelyHolders(Part wait, LikelyHolders.Activity activity) {
        return CallSamples.most(ofLikelyHolders(wait), sample -> activity.isIn(sample) ? sample.line() : null);
    }

    /**
     * Returns the most frequent source line in all samples of the likely holders, regardless of their activity; null if
     * there are too few samples.
     */
    @Nullable
    public StackTraceElement lineOfLikelyHolders(Part wait) {
        return CallSamples.most(ofLikelyHolders(wait), Sample::line);
    }

    private @Nullable StackTraceElement most(Function<Sample, @Nullable StackTraceElement> chosen) {
        return CallSamples.most(all(), chosen);
    }

    private List<Sample> all() {
        List<Sample> all = new ArrayList<>();
        calls.forEach(all::addAll);
        return all;
    }
}
