package tern.rpc.diagnosis.machine;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.evidence.CollectorThreads;
import tern.rpc.evidence.Machine.Quota;
import tern.rpc.evidence.MachineReader;
import tern.rpc.evidence.MachineSecond;
import tern.rpc.evidence.RunTime;
import tern.rpc.evidence.ServingThreads;
import tern.rpc.evidence.ThreadIds;

/**
 * Measures the processor time and memory that this process and its container use. Only one thread calls {@link #read}.
 */
public final class MachineWatch implements ProcessWatch {

    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int SECONDS_BETWEEN_SEARCHES = 60;

    /** Values about the garbage collector are averaged over this period, because the collector works in bursts. */
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(15);

    /**
     * The kernel's counters for stolen time, memory, disks and the network are averaged over this period, because they
     * vary from second to second.
     */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final CollectorLog collectors = new CollectorLog();
    private final CollectorShare share = CollectorShare.ofThisProcess();
    private final HiccupMeter hiccups = new HiccupMeter();
    private final VmOperations operations = new VmOperations();
    private final FlightRecording recording = new FlightRecording();
    private final ExplicitCollections explicit = new ExplicitCollections();
    private final SampledObjects objects = new SampledObjects();
    private final MachineReader reader = new MachineReader(Path.of("/"));
    private final CollectorThreads collectorThreads = new CollectorThreads(Path.of("/"));
    private final ThreadWatch threads = new ThreadWatch();
    private final ThreadIds ids = new ThreadIds(Path.of("/"));
    private final ServingThreads serving = new ServingThreads(Path.of("/"), ids);
    // The readings of the kernel's and the JVM's counters within the last WINDOW_NANOS, from which means are computed.
    private final Deque<Look> looks = new ArrayDeque<>();
    private volatile Look last; // The diagnosis thread writes this field.
    private volatile Machine latest = Machine.UNKNOWN;
    private int untilSearch; // the number of readings of the counters until the collector's threads are looked up again
    private final OpenFileWatch files = new OpenFileWatch(Path.of("/"));

    public MachineWatch() {
        last = look();
        looks.addLast(last);
    }

    private record Look(
            long at, tern.rpc.evidence.Machine machine, long freedBytes, RunTime collecting, RunTime serving) {}

    static long processNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /** Returns the record of collections, for tests. */
    CollectorLog collectors() {
        return collectors;
    }

    @Override
    public ThreadIds threads() {
        return ids;
    }

    @Override
    public FlightRecording recording() {
        return recording;
    }

    @Override
    public double exhausted(long now) {
        return share.read(now);
    }

    @Override
    public void start() {
        collectors.start();
        hiccups.start();
        files.start();
    }

    @Override
    public void stop() {
        hiccups.stop();
        explicit.stop();
        collectors.stop();
        files.stop();
    }

    @Override
    public OpenFileUse openFiles() {
        return files.use();
    }

    @Override
    public String stoppingQuota() {
        Look since = last;
        return stoppingQuota(reader.read().since(since.machine, System.nanoTime() - since.at));
    }

    static String stoppingQuota(MachineSecond since) {
        Quota.Level quota = since.mostThrottling();
        return quota == null || quota.throttledPeriods() <= Machine.THROTTLED * quota.periods()
                ? ""
                : String.format(
                        Locale.ROOT,
                        ": raise the CPU quota of its container (%.2f processors), which stopped it in %d of %d"
                                + " periods",
                        quota.processors(),
                        quota.throttledPeriods(),
                        quota.periods());
    }

    @Override
    public void searchExplicitCollections() {
        explicit.search(System.nanoTime());
    }

    @Override
    public void searchObjects() {
        objects.search(System.nanoTime());
    }

    @Override
    public String keptObjects() {
        return objects.found(System.nanoTime()).kept();
    }

    @Override
    public String allocatedObjects() {
        return objects.found(System.nanoTime()).allocated();
    }

    @Override
    public long allocatedBytes() {
        return ThreadWatch.allocatedBytes();
    }

    private Look look() {
        return new Look(
                System.nanoTime(), reader.read(), collectors.freedBytes(), collectorThreads.read(), serving.read());
    }

    @Override
    public Machine read(boolean withThreads) {
        long now = System.nanoTime();
        if (now - last.at < MIN_NANOS) {
            return latest;
        }
        files.second(now);
        if (hiccups.between(last.at, now, collectors).of(Part.of(Part.Kind.JVM_PAUSE)) > 0) {
            operations.read();
        }
        if (withThreads && untilSearch-- <= 0) {
            collectorThreads.find();
            untilSearch = SECONDS_BETWEEN_SEARCHES;
        }
        Look look = look();
        double elapsed = look.at - last.at;
        Look first = first(look);
        double window = look.at - first.at;
        MachineSecond second = look.machine.since(last.machine, (long) elapsed);
        Look earlier = recent(look);
        MachineSecond recent = look.machine.since(earlier.machine, look.at - earlier.at);
        double paused = collectors.between(first.at, look.at).sum() / window;
        latest = new Machine(
                second.allowedProcessors(),
                second.ownCpuProcessors(),
                second.otherCpuProcessors(),
                second.throttledShare(),
                paused,
                collectors.live(look.at),
                collectors.mainCause(first.at),
                (look.freedBytes - first.freedBytes) / window * 1e9,
                -1,
                -1,
                second.lowPriorityProcessors(),
                -1,
                withThreads ? threads.read(elapsed) : List.of(),
                collecting(look, elapsed),
                recent,
                look.machine.missing(),
                Machine.Stolen.in(recent),
                collectors.growth(look.at, paused),
                explicit.most(look.at),
                Machine.Delay.of(look.serving.since(earlier.serving)),
                null);
        if (withThreads && latest.isBusyWithOthers()) {
            latest = latest.busyWith(BusyProcesses.OF_MACHINE.most());
        }
        if (!withThreads) {
            threads.clear();
        }
        last = look;
        return latest;
    }

    /** Returns the oldest reading of the counters within the last {@link #RECENT_NANOS}. */
    private Look recent(Look look) {
        Look from = last;
        for (Look earlier : looks) {
            if (look.at - earlier.at <= RECENT_NANOS && earlier.at < from.at) {
                from = earlier;
            }
        }
        return from;
    }

    /** Adds a reading of the counters, and returns the oldest reading within {@link #WINDOW_NANOS}. */
    private Look first(Look look) {
        looks.addLast(look);
        while (looks.size() > 2 && look.at - looks.getFirst().at > WINDOW_NANOS) {
            looks.removeFirst();
        }
        return looks.getFirst();
    }

    /**
     * Returns the number of processors that the collector's threads keep busy; -1 until their times have been read
     * twice.
     */
    private double collecting(Look look, double elapsed) {
        RunTime spent = look.collecting.since(last.collecting);
        return spent.isKnown() ? spent.runNanos() / elapsed : -1;
    }

    @Override
    public List<HiccupMeter.Stop> pauses(long fromNanos, long toNanos) {
        return hiccups.ended(fromNanos, toNanos);
    }

    @Override
    public double stalledNanos(long fromNanos, long toNanos) {
        return collectors.stalledNanos(fromNanos, toNanos);
    }

    @Override
    public Map<String, Double> operations() {
        return operations.since(VmOperations.uptimeSeconds() - WINDOW_NANOS / 1e9, VmOperations.MIN_PAUSE_NANOS);
    }

    @Override
    public boolean isOfRecording(String operation) {
        return recording.hasRequested(operation, System.nanoTime());
    }

    @Override
    public Times between(long fromNanos, long toNanos) {
        Times all = collectors.between(fromNanos, toNanos);
        all.addAll(hiccups.between(fromNanos, toNanos, this::explained), 1);
        return all;
    }

    /**
     * Returns the pauses of the collector and of the diagnosis itself. To read stacks before Java 25, the diagnosis
     * stops all threads. While the processors are saturated, threads stop late because they wait for a processor.
     */
    private Times explained(long fromNanos, long toNanos) {
        Times times = collectors.between(fromNanos, toNanos);
        long now = System.nanoTime();
        double uptime = VmOperations.uptimeSeconds();
        double own = operations.ownNanos(
                uptime - (now - fromNanos) / 1e9,
                uptime - (now - toNanos) / 1e9,
                name -> VmOperations.isOwn(name) || isOfRecording(name),
                latest.isFull());
        times.add(Part.of(Part.Kind.JVM_PAUSE), own);
        return times;
    }
}
