package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.rule.EqualWaits;
import tern.rpc.diagnosis.rule.HolderRules;
import tern.rpc.diagnosis.sample.LikelyHolders;
import tern.rpc.diagnosis.sample.LockedWork;
import tern.rpc.diagnosis.sample.LockingThreads;
import tern.rpc.diagnosis.stack.FileLocks;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.JdkLocks;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for waits for locks and permits. */
final class LockText {

    /** Permits count as lost if at least {@value} samples show waits for a permit and no sample shows a holder. */
    private static final int MIN_LOST_LOOKS = 30;

    /** Matches the methods of Caffeine's and Spring's caches, such as {@code LocalManualCache.get}. */
    private static final Pattern CACHES = Pattern.compile("^\\w*Cache\\.(?:get|getAll|getIfPresent|retrieve)$");

    private final Evidence evidence;
    private final ExcessTime excess;

    LockText(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns the cause description for the wait for a lock.
     *
     * @param place the code that holds the lock or, if the holder is unknown, the code that waits for it
     * @param line the line of this code; null if unknown
     * @param work the activity of the lock's owner; null if unknown
     */
    CauseDescription describe(Part part, String place, @Nullable StackTraceElement line, Part.@Nullable Kind work) {
        boolean dead = part.name().contains(" in a deadlock with ");
        LockingThreads.Holder holder = part.name().contains(StackReader.WANTED)
                ? evidence.tasks().locking().likelyHolder(excess.samples.lineOf(part))
                : null;
        List<String> facts = facts(part, line, holder);
        if (JdkLocks.isNeverReleased(part)) {
            return neverReleased(part, place, excess.samples.owners().ownerOf(part), facts);
        }
        LikelyHolders.Activity likely = holder != null ? null : HolderRules.holdersOf(part, excess.samples);
        StackTraceElement held = likely != null
                ? excess.samples.owners().lineOfLikelyHolders(part, likely)
                : holder == null ? lineOfHolders(part) : holder.line();
        if (holder == null && held != null) {
            facts.add("held     most likely by calls in " + ApplicationCode.shown(held));
        }
        Part.Kind known = work == null && likely != null ? likely.part().kind() : work;
        String meanwhile =
                LockedWork.advice(holder != null ? evidence.tasks().locking().workAt(holder) : known);
        String permits = areLost(part, held)
                ? "release each permit in a finally block, also if code fails or returns early: no sample of the calls"
                        + " that wait found a call or thread that holds a permit, so permits were most likely not given"
                        + " back"
                : permits(part, held == null ? "" : " in " + ApplicationCode.shown(held));
        if (permits != null) {
            facts.addAll(lost(part, held));
            String failing = new LostPermits(evidence, excess).failures(part);
            permits = failing == null ? permits : permits + "; " + failing;
            return new CauseDescription(
                    "LOCK",
                    part.name(),
                    Change.of(Where.CODE, permits + ": wanted in " + place + meanwhile + "; more threads do not help"),
                    facts);
        }
        if (holder != null) {
            return new CauseDescription(
                    "LOCK",
                    part.name(),
                    Change.of(
                            Where.CODE,
                            "hold the lock for less time in " + ApplicationCode.shown(holder.line())
                                    + ", which threads "
                                    + holder.threads() + "* run: they serve no call and most likely hold it; wanted in "
                                    + place + meanwhile + "; more threads do not help"),
                    facts);
        }
        if (held == null && excess.samples.owners().ownerOf(part) == null && new LeftLocks(excess).isOne(part)) {
            return neverReleased(part, place, null, facts);
        }
        return new CauseDescription(
                dead ? "DEADLOCK" : "LOCK",
                part.name(),
                Change.of(
                        Where.CODE,
                        dead
                                ? "take the locks in the same order everywhere, first in " + place
                                        + "; only a restart ends this deadlock"
                                : sooner(part, place, held, excess.samples.calledIn(part)) + meanwhile
                                        + "; more threads do not help"),
                facts);
    }

    /** Returns the line where calls most likely hold the lock; null if unknown, or if the lock's owner is known. */
    private @Nullable StackTraceElement lineOfHolders(Part part) {
        return part.name().contains(StackReader.WANTED)
                        && excess.samples.owners().ownerOf(part) == null
                        && !FileLocks.isOne(part)
                ? excess.samples.owners().lineOfLikelyHolders(part)
                : null;
    }

    private List<String> facts(Part part, @Nullable StackTraceElement line, LockingThreads.@Nullable Holder holder) {
        List<String> facts = new ArrayList<>();
        String thread = excess.samples.owners().ownerOf(part);
        if (thread != null) {
            facts.add("holder   thread " + thread);
        }
        if (line != null) {
            facts.add("line     " + ApplicationCode.shown(line));
        }
        StackTraceElement doing = excess.samples.owners().ownersLineOf(part);
        if (doing != null && !doing.equals(line)) {
            facts.add("doing    " + ApplicationCode.shown(doing));
        }
        facts.add("waits    " + excess.samples.looks(part) + " samples found a call waiting for it");
        if (holder != null) {
            facts.add("others   threads " + holder.threads() + "* were found in " + ApplicationCode.shown(holder.line())
                    + ", " + holder.looks() + " samples");
        }
        return facts;
    }

    /**
     * Returns the evidence that permits have been lost: no sample shows a holder, or waits end at a timeout.
     *
     * @param held where permits are held; null if no sample shows a holder
     */
    private List<String> lost(Part part, @Nullable StackTraceElement held) {
        List<String> facts = new ArrayList<>();
        if (areLost(part, held) || (held == null && excess.samples.looks(part) >= MIN_LOST_LOOKS)) {
            facts.add("held     no sample shows what the holders of the permits do; if nobody uses them, they were not"
                    + " returned");
        }
        String equal = EqualWaits.fact(excess, part);
        if (equal != null) {
            facts.add(equal);
        }
        return facts;
    }

    /**
     * Returns whether permits of a semaphore were probably never released. This is the case if many samples show waits
     * for a permit and none shows a holder.
     */
    private boolean areLost(Part part, @Nullable StackTraceElement held) {
        return held == null
                && part.name().startsWith(Part.SEMAPHORE)
                && excess.samples.owners().ownersIn(part) == null
                && excess.samples.looks(part) >= MIN_LOST_LOOKS;
    }

    private static CauseDescription neverReleased(
            Part part, String place, @Nullable String thread, List<String> facts) {
        String name = part.name().replace(StackReader.NEVER_RELEASED, "");
        return new CauseDescription(
                "LOCK NOT RELEASED",
                name,
                Change.of(
                        Where.CODE,
                        "unlock it in a finally block, so that an exception cannot skip the unlock, in the class of"
                                + " " + place
                                + (thread == null
                                        ? ": no sample found a thread that holds the lock, and no call that waited for"
                                                + " it got it"
                                        : ": the lock belongs to thread " + thread
                                                + ", which has ended or runs no code that uses it")
                                + "; only a restart releases it"),
                facts);
    }

    /**
     * Returns the advice for a wait for a permit; null if the given activity or wait is not a wait for a permit.
     *
     * @param place where the permits are held; empty if unknown
     */
    private static @Nullable String permits(Part part, String place) {
        String less = "hold it for less time" + place;
        if (part.name().startsWith(Part.SEMAPHORE) && !place.isEmpty()) {
            // Calls are holding the permits, so their work is a more likely reason than permits that were not released.
            return "find out why the code that holds the permits is slow, or " + less + "; otherwise allow more"
                    + " permits, and release each permit in a finally block, also if code fails";
        }
        if (part.name().startsWith(Part.SEMAPHORE)) {
            return "release each permit in a finally block, also if code fails, and " + less + "; otherwise allow"
                    + " more permits";
        }
        if (part.name().startsWith(LibraryWaits.BULKHEAD)) {
            return "find out why the calls within this bulkhead are slow; otherwise allow more concurrent calls in its"
                    + " configuration";
        }
        return part.name().startsWith(LibraryWaits.LIMIT)
                ? "find out why the calls within this limit are slow; otherwise raise the limit"
                : null;
    }

    /**
     * Returns whether the method belongs to a cache that loads a missing value itself. Other caches only store values
     * that the application has computed.
     */
    private static boolean isInCache(@Nullable String called) {
        return called != null && CACHES.matcher(called).find();
    }

    /**
     * Returns the advice for a lock that is held for too long.
     *
     * @param held where calls most likely hold the lock; null if unknown
     * @param called the method called by the waiting code; null if unknown
     */
    private static String sooner(Part part, String place, @Nullable StackTraceElement held, @Nullable String called) {
        String name = part.name();
        String instead = Hints.lock(name);
        if (!instead.isEmpty()) {
            return instead + ": hold it for less time in " + place;
        }
        if (name.startsWith("monitor of ConcurrentHashMap ") && isInCache(called)) {
            return "load the values of this cache without making calls wait: refresh them before they expire"
                    + " (refreshAfterWrite, an asynchronous cache), keep them longer, or make the loader faster: "
                    + place + " loads one value, and calls that want it or a neighboring key wait";
        }
        if (name.startsWith("monitor of ConcurrentHashMap ")) {
            return "compute the value before computeIfAbsent (compute, merge), not within it, in " + place
                    + ", or keep the value longer: the map locks all keys of this bin while it computes";
        }
        if (FileLocks.isOne(part)) {
            return "release this lock of a file sooner in the other process that holds it, or do not wait for it in a"
                    + " call (tryLock); wanted in " + place;
        }
        if (name.startsWith(LibraryWaits.DISTRIBUTED)) {
            return "hold this lock for less time, or take one lock for each key: another call or process holds it;"
                    + " release it in a finally block; wanted in " + place;
        }
        if (name.contains(StackReader.WANTED) && name.startsWith("ReentrantReadWriteLock.WriteLock")) {
            return "hold the read lock for less time, or read a copy without a lock: the readers block the writer in "
                    + place;
        }
        if (name.contains(StackReader.WANTED) && held != null) {
            return "hold the lock for less time in " + ApplicationCode.shown(held)
                    + ", where calls most likely hold it; wanted in " + place;
        }
        return name.contains(StackReader.WANTED)
                ? "hold the lock for less time: no sample found its holder; wanted in " + place
                : "hold the lock for less time in " + place;
    }
}
