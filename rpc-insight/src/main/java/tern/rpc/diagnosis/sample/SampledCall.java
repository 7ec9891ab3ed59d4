package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.stack.CacheLoads;
import tern.rpc.diagnosis.stack.ClassLoads;
import tern.rpc.diagnosis.stack.EventLoops;
import tern.rpc.diagnosis.stack.ForkJoinWaits;
import tern.rpc.diagnosis.stack.LibraryWork;
import tern.rpc.diagnosis.stack.NewConnections;
import tern.rpc.diagnosis.stack.NewHttpClients;
import tern.rpc.diagnosis.stack.PinnedCarriers;
import tern.rpc.diagnosis.stack.RowReads;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.evidence.RunTime;

/** The samples of one call, oldest first. */
public final class SampledCall {

    // the maximum number of samples that are kept because the call may hold a lock
    private static final int MAX_HOLDING = 16;

    /** An asynchronous operation that the call ran at the given time. */
    public record Operation(long atNanos, NamedTimes.Entry operation) {}

    public final String method;
    public final List<Sample> list = new ArrayList<>();
    // samples that were taken because the thread may have held a lock, oldest first. They do not show how the call's
    // time is divided, because a thread that waits for the lock is sampled less often.
    private final List<Sample> holding = new ArrayList<>();
    /** The operations of the call at moments when no thread worked on it, oldest first. */
    public final List<Operation> withoutThread = new ArrayList<>();

    // the number of samples in which a thread other than the call's own worked for the call and did not wait for
    // its caller
    public int otherLooks;
    private long lastNanos;
    // whether the call's thread ran a task that a full executor had rejected
    public boolean ranRejectedTask;
    // the number of pairs of consecutive samples that both found the thread asleep in the same code
    public int sleepingPairs;
    // the number of sleeps that began between the two samples of such a pair, summed over all pairs
    public long sleeps;
    private @Nullable Part lastSleep; // the activity of the last sample if the thread slept; null otherwise
    private long waitsBefore; // the thread's number of waits up to the last sample
    public int forkedLooks; // the number of samples in which the call's thread ran a task of the common pool
    public int searchingLooks; // the number of samples in which the thread searched for items of its parallel stream
    /** The waits for sockets between consecutive samples that found the thread at the same wait. */
    public final SocketWaits socketWaits = new SocketWaits();

    // how threads that were found computing ran and waited for a processor shortly after the sample
    final Map<Sample, RunTime> runTimes = new HashMap<>();
    public int resultLooks; // the number of samples in which the call's thread waited for another thread
    // the number of samples in which the call's thread waited for another thread although all measured tasks of the
    // call had ended
    public int unattendedLooks;

    public int untimedLooks; // the number of samples in which the thread waited for a result without a time limit

    @Nullable
    public StackTraceElement pinnedAt; // the last line where the call's virtual thread was pinned to its carrier

    @Nullable
    public String appender; // the class of the logger in which the thread was found last, such as an appender

    public int classLooks; // the number of samples in which the running thread loaded a class
    public int locationLooks; // the number of samples in which a logger searched the stack for the line that logs

    @Nullable
    public String eventLoop; // the name of the last event loop that ran the call; null if there is none

    // the cache for which an operation of the call's thread loaded a value, according to the last such sample; null if
    // there is none
    public @Nullable String cache;
    public @Nullable Phase loadedIn; // the kind of the operation that loaded the value
    // for each activity outside of operations that loaded a value for a cache, the name of the cache
    public final Map<Part, String> loadingCode = new HashMap<>();

    public int looks; // the number of samples in which a thread was working on the call
    public int loopLooks; // the number of samples in which the call's thread was an event loop
    public int poolLooks; // the number of samples in which the call waited for a JDBC connection
    public int checkLooks; // the number of samples in which the pool checked the connection that the call waited for
    // the number of samples in which the thread opened a connection of a pool of HTTP or Redis connections
    public int openLooks;
    public int sqlLooks; // the number of samples taken while a statement ran
    public int rowLooks; // the number of samples in which the thread waited for the next rows of a statement's result
    public int httpLooks; // the number of samples taken during an HTTP exchange
    public int httpWaits; // the number of samples in which the thread waited for an HTTP connection

    // the number of samples in which a thread of the common pool had to pass on an HTTP answer, but none was free
    public int httpCommonPool;

    public int httpJdkLooks; // the number of samples that found the thread in the JDK's HTTP client during an exchange
    public int httpConnects; // the number of samples in which the thread opened an HTTP connection
    public long longestConnect; // the longest period in which all samples found the thread opening an HTTP connection

    // the time of the first sample in the current series of samples in which the thread opened an HTTP connection;
    // 0 if there is no such series
    private long connectsSince;

    public SampledCall(String method) {
        this.method = method;
    }

    /**
     * Adds a sample. If the sample shows a wait for the initialization of a class, the previous sample of the same
     * wait is changed to show this wait, too. A single sample of such a wait seems to show running code.
     */
    public void add(Sample sample) {
        Sample before = list.isEmpty() ? null : list.get(list.size() - 1);
        boolean awaits = sample.part().kind() == Part.Kind.CLASS_INITIALIZATION && sample.owner() != null;
        if (awaits && before != null && before.isComputing()) {
            list.set(list.size() - 1, before.waitingAs(sample));
        }
        list.add(sample);
        lastNanos = sample.atNanos();
    }

    /** Adds a sample that was taken because the call's thread may hold a lock for which other calls wait. */
    void addHolder(Sample sample) {
        if (holding.size() < MAX_HOLDING) {
            holding.add(sample);
        }
    }

    /** Returns the samples of the call and those of a possible holder of a lock, oldest first. */
    List<Sample> withHolding(CallLedger call) {
        return holding.isEmpty()
                ? ofCall(call)
                : Stream.concat(ofCall(call).stream(), holding.stream())
                        .sorted(Comparator.comparingLong(Sample::atNanos))
                        .toList();
    }

    /** Records that the call is sampled at the given time. */
    void sampledAt(long now) {
        lastNanos = now;
    }

    /** Counts a sample of another thread that works for the call. The sample itself is not added to the list. */
    void addOther() {
        otherLooks++;
    }

    /**
     * Counts the sleeps since the last sample. The JVM counts each sleep of a thread as a wait.
     *
     * @param waits the thread's number of waits so far; -1 if unknown
     */
    public void addSleeps(Part activity, long waits) {
        boolean sleeps = activity.kind() == Part.Kind.SLEEP && waits >= 0;
        if (sleeps && activity.equals(lastSleep)) {
            sleepingPairs++;
            this.sleeps += Math.max(0, waits - waitsBefore);
        }
        lastSleep = sleeps ? activity : null;
        waitsBefore = waits;
    }

    /** Counts a sample in which the thread waited for another thread. */
    void addResult(CallLedger call) {
        resultLooks++;
        boolean hasEndedTasks = call.count(Phase.EXECUTOR) > 0;
        unattendedLooks +=
                hasEndedTasks && call.parts().isEmpty() && call.unfinished().isEmpty() ? 1 : 0;
    }

    /** @param isCommonPoolFull whether the common pool had no free thread */
    public void addStack(Phase phase, ThreadSnapshot thread, boolean isCommonPoolFull) {
        ranRejectedTask |= StackReader.runsRejectedTask(thread);
        forkedLooks += thread.runsForkedTask() ? 1 : 0;
        searchingLooks += ForkJoinWaits.isOne(thread.frames()) ? 1 : 0;
        pinnedAt = PinnedCarriers.isPinned(thread) ? StackReader.first(thread) : pinnedAt;
        looks++;
        boolean isResult = !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.RESULT;
        untimedLooks += isResult && thread.state() == Thread.State.WAITING ? 1 : 0;
        if (EventLoops.isOne(thread)) {
            loopLooks++;
            eventLoop = thread.name();
        }
        String writes = phase == Phase.LOGGING || isLogging() ? LibraryWork.appender(thread) : null;
        appender = writes == null ? appender : writes;
        addLoad(phase, thread);
        classLooks += phase == Phase.OWN && ClassLoads.isOne(thread) ? 1 : 0;
        locationLooks += phase == Phase.LOGGING && LibraryWork.findsLocation(thread) ? 1 : 0;
        if (phase == Phase.JDBC_CONNECTION) {
            poolLooks++;
            checkLooks += ConnectionChecks.isOne(thread) ? 1 : 0;
        }
        if (phase == Phase.HTTP_CONNECTION || phase == Phase.REDIS_CONNECTION) {
            openLooks += NewConnections.isOpening(thread) ? 1 : 0;
        }
        if (phase == Phase.SQL) {
            sqlLooks++;
            rowLooks += RowReads.waits(thread) ? 1 : 0;
        }
        // If Tern does not measure the HTTP client, the ledger contains no exchange. Only the stack shows the
        // exchange.
        boolean isSeen = !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.HTTP;
        if (phase == Phase.HTTP || isSeen) {
            httpLooks++;
            httpJdkLooks += NewHttpClients.isUsedBy(thread) ? 1 : 0;
            httpWaits += StackReader.waitsForHttpConnection(thread) ? 1 : 0;
            httpCommonPool += isCommonPoolFull && StackReader.awaitsCommonPool(thread) ? 1 : 0;
            addConnect(NewConnections.isOpening(thread));
        }
    }

    private void addLoad(Phase phase, ThreadSnapshot thread) {
        String loads = phase.isOperation() || phase == Phase.OWN ? CacheLoads.cacheIn(thread) : null;
        if (loads == null) {
            return;
        }
        if (phase.isOperation()) {
            cache = loads;
            loadedIn = phase;
        } else if (!list.isEmpty() && !isIn(StackReader.first(thread), loads)) {
            loadingCode.put(list.get(list.size() - 1).part(), loads);
        }
    }

    /**
     * Returns whether the given line belongs to the class of the given cache. The thread then searches the cache or
     * stores a value in it.
     */
    private static boolean isIn(@Nullable StackTraceElement line, String cache) {
        return line != null && ThreadSnapshot.simple(line.getClassName()).equals(cache);
    }

    private boolean isLogging() {
        return !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.LOG;
    }

    private void addConnect(boolean opens) {
        if (!opens) {
            connectsSince = 0;
            return;
        }
        httpConnects++;
        connectsSince = connectsSince == 0 ? last() : connectsSince;
        longestConnect = Math.max(longestConnect, last() - connectsSince);
    }

    long last() {
        return lastNanos;
    }

    /**
     * Returns the samples of the call, oldest first. If the call's thread waited for an asynchronous operation that
     * has ended since, its samples show the operation.
     *
     * @param call the ledger of the call
     */
    public List<Sample> ofCall(CallLedger call) {
        return AwaitedOperations.resolved(list, call);
    }
}
