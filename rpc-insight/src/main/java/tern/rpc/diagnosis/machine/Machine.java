package tern.rpc.diagnosis.machine;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.MachineSecond;
import tern.rpc.evidence.RunTime;

/**
 * The state of processors and memory while calls miss the latency target. The value -1 means unknown.
 *
 * @param processors the number of processors that the process may use; a fraction is possible under a quota
 * @param own the number of processors that the process kept busy
 * @param others the number of processors that all other processes together kept busy
 * @param throttled the share of the CPU quota's periods in which the process was throttled
 * @param collecting the share of time spent in pauses of the garbage collector
 * @param live the share of the heap that is in use after a garbage collection
 * @param collectionCause the JVM's reason for the garbage collections that took the most time; null if there were none
 * @param allocatedPerSecond the number of bytes allocated per second
 * @param usuallyAllocatedPerSecond the usual number of bytes allocated per second
 * @param usuallyBusy the number of processors that all processes together usually keep busy
 * @param lowPriority the number of processors kept busy by threads of low priority (with a nice value above 0)
 * @param usuallyUrgent the usual value of {@link #urgent}
 * @param burners groups of threads in descending order of used processor time
 * @param collectorThreads the number of processors that threads of the collector kept busy
 * @param second the changes of the kernel counters in the last seconds; null if nothing is known
 * @param missing the evidence that the operating system does not provide
 * @param stolen the processor time that the host gave to other virtual machines
 * @param growth the growth of the used memory if the heap will be full soon; otherwise null
 * @param collects the code that calls {@code System.gc()}; null if there is none or if it is unknown
 * @param delay how long threads that serve calls wait for a processor
 * @param busiest the other program that uses the most processor time; null if it is unknown, or if it uses little
 */
public record Machine(
        double processors,
        double own,
        double others,
        double throttled,
        double collecting,
        double live,
        @Nullable String collectionCause,
        double allocatedPerSecond,
        double usuallyAllocatedPerSecond,
        double usuallyBusy,
        double lowPriority,
        double usuallyUrgent,
        List<Burner> burners,
        double collectorThreads,
        @Nullable MachineSecond second,
        List<String> missing,
        Stolen stolen,
        @Nullable HeapGrowth growth,
        @Nullable CollectionCaller collects,
        Delay delay,
        BusyProcesses.@Nullable Busiest busiest) {

    /** The state before the first measurement, with one processor. All other values are unknown. */
    public static final Machine UNKNOWN =
            new Machine(1, -1, -1, -1, -1, -1, null, -1, -1, List.of(), -1, null, List.of());

    /** The heap counts as nearly full if at least {@value} of it is in use after a garbage collection. */
    public static final double NEARLY_FULL = 0.85;

    private static final double FULL = 0.8;

    /**
     * A CPU quota is assumed to make calls late if it stops the process in more than {@value} of the quota's periods.
     */
    public static final double THROTTLED = 0.05;

    /**
     * The processors count as no busier than usual if the difference from their usual use is less than {@value} of
     * their total time.
     */
    private static final double MUCH_BUSIER = 0.1;

    private static final double HALF = 0.5;

    /** A process counts as nearly idle if it keeps fewer than {@value} processors busy. */
    private static final double NEARLY_IDLE = 0.1;

    /**
     * The host counts as taking a lot of processor time if it takes at least {@value} of the processors' total time.
     */
    private static final double MUCH_STOLEN = 0.1;

    /**
     * Stolen time is assumed to slow down all work only if it is at least {@value} of the processor time that this
     * machine needed.
     */
    private static final double MUCH_OF_DEMAND = 0.25;

    /**
     * Stolen processor time can be the cause of late calls only if it is at least {@value} times its usual value. On
     * some hosts, a little processor time is always stolen.
     */
    private static final double MORE_THAN_USUAL = 2;

    /**
     * The process counts as allocating much more memory than usual if its allocation rate exceeds both {@link
     * #MIN_STORM} and {@value} times the usual rate.
     */
    private static final double STORM = 10;

    // the minimum allocation rate that counts as high, in bytes per second
    private static final double MIN_STORM = 200e6;

    /** The minimum mean wait for a processor. Shorter waits are assumed not to make calls late. */
    private static final double LEAST_DELAY_NANOS = 1e6;

    /**
     * The minimum mean wait for a processor that is assumed to make calls late while the usual waits are not known
     * reliably. One call may wait several times.
     */
    private static final double LONG_DELAY_NANOS = 3e6;

    /**
     * The waits for a processor count as much longer than usual if they are at least {@value} times the usual waits.
     */
    private static final double LONGER = 3;

    /** The waits for a processor count as usual if they are below {@value} times the usual waits. */
    private static final double AS_USUAL = 1.5;

    private static final double SLICE_NANOS = 3e6; // how long the kernel usually lets a thread run at least

    /** The garbage collector's pauses are assumed to make calls late if they take at least {@value} of the time. */
    private static final double MUCH_COLLECTING = 0.05;

    public Machine {
        burners = List.copyOf(burners);
        missing = List.copyOf(missing);
    }

    /** Creates a state with the stolen time of the last second, and without usual values of the processors. */
    public Machine(
            double processors,
            double own,
            double others,
            double throttled,
            double collecting,
            double live,
            @Nullable String collectionCause,
            double allocatedPerSecond,
            double usuallyAllocatedPerSecond,
            List<Burner> burners,
            double collectorThreads,
            @Nullable MachineSecond second,
            List<String> missing) {
        this(
                processors,
                own,
                others,
                throttled,
                collecting,
                live,
                collectionCause,
                allocatedPerSecond,
                usuallyAllocatedPerSecond,
                -1,
                -1,
                -1,
                burners,
                collectorThreads,
                second,
                missing,
                Stolen.in(second),
                null,
                null,
                Delay.UNKNOWN,
                null);
    }

    /** Returns a copy with the growth of the used memory. */
    public Machine growing(@Nullable HeapGrowth of) {
        return with(usuallyAllocatedPerSecond, usuallyBusy, usuallyUrgent, stolen, of, collects, delay, busiest);
    }

    /** Returns a copy with the code that calls {@code System.gc()}. */
    Machine collectedBy(@Nullable CollectionCaller caller) {
        return with(usuallyAllocatedPerSecond, usuallyBusy, usuallyUrgent, stolen, growth, caller, delay, busiest);
    }

    /** Returns a copy with the program, other than this process, that uses the most processor time. */
    public Machine busyWith(BusyProcesses.@Nullable Busiest program) {
        return with(usuallyAllocatedPerSecond, usuallyBusy, usuallyUrgent, stolen, growth, collects, delay, program);
    }

    /** Returns a copy with the given waits for a processor. */
    public Machine delayed(Delay by) {
        return with(usuallyAllocatedPerSecond, usuallyBusy, usuallyUrgent, stolen, growth, collects, by, busiest);
    }

    /** Returns whether surviving objects nearly fill the heap, or soon will. */
    public boolean isHeapFilling() {
        return live >= NEARLY_FULL || growth != null;
    }

    /** Returns whether the process allocates much more memory than usual. */
    public boolean allocatesMuch() {
        return usuallyAllocatedPerSecond > 0
                && allocatedPerSecond > Math.max(MIN_STORM, STORM * usuallyAllocatedPerSecond);
    }

    /**
     * Returns whether pauses of the garbage collector may make calls late. Also returns true if the length of the
     * pauses is unknown.
     */
    public boolean isCollecting() {
        return collecting < 0 || collecting >= MUCH_COLLECTING;
    }

    /** Returns whether objects larger than half a G1 region cause most of the time spent in garbage collections. */
    public boolean hasHumongousCollections() {
        return collectionCause != null && collectionCause.contains("Humongous");
    }

    /**
     * The processor time that the host gave to other virtual machines.
     *
     * @param share this time as a share of the processors' total time
     * @param ofDemand this time as a share of the processor time that this machine needed
     * @param usualShare the usual value of {@code share}
     */
    public record Stolen(double share, double ofDemand, double usualShare) {

        static Stolen in(@Nullable MachineSecond second) {
            return second == null
                    ? new Stolen(-1, -1, -1)
                    : new Stolen(second.stealShare(), second.stealShareOfDemand(), -1);
        }
    }

    /**
     * How long the threads that serve calls wait until they get a processor. The value -1 means unknown.
     *
     * @param nanos the mean wait each time that such a thread is ready to run
     * @param usualNanos the usual value of {@code nanos}
     * @param perRun the total wait divided by the run time of these threads
     * @param usuallyOwn the number of processors that this process usually keeps busy
     * @param isSettled whether the usual value was learned for long enough to show what is usual after the start
     */
    public record Delay(double nanos, double usualNanos, double perRun, double usuallyOwn, boolean isSettled) {

        public static final Delay UNKNOWN = new Delay(-1, -1, -1, -1, false);

        /** Returns the waits that the given scheduler counters show, without a usual value. */
        public static Delay of(RunTime times) {
            return times.turns() <= 0 || times.runNanos() <= 0
                    ? UNKNOWN
                    : new Delay(
                            (double) times.delayNanos() / times.turns(),
                            -1,
                            (double) times.delayNanos() / times.runNanos(),
                            -1,
                            false);
        }

        public Delay usually(double nanosUsually, double own, boolean settled) {
            return new Delay(nanos, nanosUsually, perRun, own, settled);
        }

        /**
         * Returns whether the waits are much longer than usual. Soon after the start of the process, the usual waits
         * are unknown, or were learned while processors were already scarce. In this case, waits that exceed an
         * absolute limit also count as long.
         */
        public boolean isLonger() {
            boolean isRelative =
                    usualNanos >= 0 && nanos >= LEAST_DELAY_NANOS && nanos >= LONGER * usualNanos && perRun >= 1;
            return isRelative || (!isSettled && nanos >= LONG_DELAY_NANOS && perRun >= LONGER);
        }

        /** Returns the share of the waits in the time of a thread that computes for several time slices. */
        double share() {
            return Math.min(perRun / (1 + perRun), nanos / (nanos + SLICE_NANOS));
        }

        /** Returns whether the waits are as short as usual. Returns false if the usual waits are unknown. */
        public boolean isAsUsual() {
            return isSettled
                    && usualNanos >= 0
                    && nanos >= 0
                    && (nanos < LEAST_DELAY_NANOS || nanos < AS_USUAL * usualNanos);
        }
    }

    /**
     * A group of threads with similar names.
     *
     * @param processors the number of processors that these threads kept busy
     * @param allocatedPerSecond the number of bytes that these threads allocated per second
     * @param place the application method in which these threads were found most often; null if there is none
     * @param servesCalls whether these threads serve calls
     */
    public record Burner(
            String name,
            int threads,
            double processors,
            double allocatedPerSecond,
            @Nullable String place,
            boolean servesCalls) {

        /** The name of a group of carrier threads whose virtual threads run known code. */
        static final String VIRTUAL = "virtual threads";

        /**
         * Matches the names of threads that serve calls: the threads of Tern, Tomcat (with and without TLS) and Jetty,
         * and the event loops of WebFlux.
         */
        private static final Pattern SERVING =
                Pattern.compile("rpc-.*|https?-(?:[a-z]+-)?nio.*|ajp-nio.*|tomcat-handler.*|qtp.*|reactor-http-.*");

        /**
         * Matches the names of carrier threads, and of threads of the application's fork-join pools. The stacks of
         * carrier threads contain no application code.
         */
        private static final Pattern CARRIER = Pattern.compile("ForkJoinPool-\\d+-worker");

        /**
         * Creates a group of threads that serve calls if their name says so. Carrier threads whose code is unknown
         * count as serving calls, because most virtual threads serve calls.
         */
        public Burner(String name, int threads, double processors, double allocatedPerSecond, @Nullable String place) {
            this(
                    name,
                    threads,
                    processors,
                    allocatedPerSecond,
                    place,
                    SERVING.matcher(name).matches() || (place == null && mayBeCarriers(name)));
        }

        /** Returns the name in the form used in texts, such as {@code threads mail*}. */
        public String shown() {
            return name.equals(VIRTUAL) ? VIRTUAL : "threads " + name + "*";
        }

        /** Returns whether threads with the given name may be carrier threads. */
        public static boolean mayBeCarriers(String name) {
            return CARRIER.matcher(name).matches();
        }
    }

    /**
     * Returns a copy with the usual allocation rate, the usual number of busy processors, the usual value of
     * {@link #urgent}, and the usual share of stolen processor time.
     */
    public Machine usually(double allocated, double busy, double urgent, double stolenShare) {
        Stolen compared = new Stolen(stolen.share, stolen.ofDemand, stolenShare);
        return with(allocated, busy, urgent, compared, growth, collects, delay, busiest);
    }

    private Machine with(
            double usuallyAllocated,
            double newUsuallyBusy,
            double newUsuallyUrgent,
            Stolen newStolen,
            @Nullable HeapGrowth newGrowth,
            @Nullable CollectionCaller caller,
            Delay newDelay,
            BusyProcesses.@Nullable Busiest program) {
        return new Machine(
                processors,
                own,
                others,
                throttled,
                collecting,
                live,
                collectionCause,
                allocatedPerSecond,
                usuallyAllocated,
                newUsuallyBusy,
                lowPriority,
                newUsuallyUrgent,
                burners,
                collectorThreads,
                second,
                missing,
                newStolen,
                newGrowth,
                caller,
                newDelay,
                program);
    }

    /**
     * Returns whether the host gives so much processor time to other virtual machines (steal time) that all work on
     * this virtual machine is slower.
     */
    public boolean isStolen() {
        return stolen.share >= MUCH_STOLEN
                && stolen.ofDemand >= MUCH_OF_DEMAND
                && stolen.share >= MORE_THAN_USUAL * Math.max(0, stolen.usualShare);
    }

    /** Returns whether threads that were mostly found in the given method use at least half of the process's time. */
    public boolean isMostlyIn(String method) {
        double there = burners.stream()
                .filter(burner -> burner.place() != null && burner.place().startsWith(method + ":"))
                .mapToDouble(Burner::processors)
                .sum();
        return there > 0 && 2 * there >= own;
    }

    /**
     * Returns true if the processors are saturated and busier than usual, and other processes use at least twice as
     * much processor time as this process.
     */
    public boolean isFullOfOthers() {
        return isFull() && !isUsuallyAsBusy() && isBusyWithOthers();
    }

    /** Returns whether other processes use at least twice as much processor time as this process. */
    boolean isBusyWithOthers() {
        return others >= 2 * Math.max(0, own) && others >= processors / 2.0;
    }

    /** Returns whether more than half of the processors are busy. */
    boolean isBusy() {
        return 2 * busy() > processors;
    }

    public boolean isFull() {
        return busy() >= FULL * processors;
    }

    /**
     * Returns whether the processors are usually about as busy as now. If the processors are usually this busy, they do
     * not explain why calls are late now. For example, the other processes may run with a lower priority. Returns false
     * in two cases in which calls wait although the processors are as busy as usual. In the first case, work of normal
     * priority has displaced work of low priority. In the second case, the threads that serve calls wait much longer
     * for a processor than usual, because more threads share the processors.
     */
    public boolean isUsuallyAsBusy() {
        if (delay.isLonger()) {
            return false;
        }
        boolean isMoreUrgent = usuallyUrgent >= 0 && urgent() - usuallyUrgent >= MUCH_BUSIER * processors;
        return usuallyBusy >= 0 && busy() - usuallyBusy < MUCH_BUSIER * processors && !isMoreUrgent;
    }

    /** The number of processors kept busy by threads of normal or high priority. */
    public double urgent() {
        return busy() - Math.max(0, lowPriority);
    }

    /**
     * Returns whether this process, rather than other processes, is the reason why the processors are busier. If the
     * usual values are known, this process is responsible if its use has grown more than the use of all other
     * processes. New work of this process may displace the usual work of the others. If the usual values are unknown,
     * this process is responsible if it uses at least as much as the others.
     */
    public boolean isBusierItself() {
        double usuallyOwn = delay.usuallyOwn();
        double grown = own - usuallyOwn;
        double othersGrown = Math.max(0, others) - (usuallyBusy - usuallyOwn);
        boolean isKnown = usuallyOwn >= 0 && usuallyBusy >= usuallyOwn;
        boolean isClear = Math.max(grown, othersGrown) >= MUCH_BUSIER * processors;
        return (isKnown && isClear) ? grown > othersGrown : own >= Math.max(0, others);
    }

    /**
     * Returns true if the processors are saturated by threads of this process that serve no call. The threads that
     * serve calls then wait much longer for a processor than usual.
     */
    public boolean isDelayedByOtherThreads() {
        return isFull() && delay.isLonger() && isBusierItself() && isBusyWithOtherThreads();
    }

    /** Returns whether most of this process's processor time is used by the garbage collector. */
    public boolean isBusyWithCollector() {
        return collectorThreads() > 0.5 * Math.max(0.1, own());
    }

    /**
     * Returns the time that the threads serving calls wait for a processor, as a share of the time that they run or
     * wait. Returns 0 unless work other than calls or a CPU quota takes the processors. With this share, times without
     * samples can be divided into work and waits.
     */
    public double waitingShare() {
        boolean isTaken = isDelayedByOtherThreads() || isFullOfOthers() || throttled > THROTTLED;
        return isTaken && delay.isLonger() ? delay.share() : 0;
    }

    /** Returns whether threads that serve no call use most of this process's processor time. */
    public boolean isBusyWithOtherThreads() {
        return !burners.isEmpty() && isBusyWith(burners.get(0));
    }

    /** Returns whether the given threads serve no call and use most of this process's processor time. */
    public boolean isBusyWith(Burner burner) {
        return burner.processors() > HALF * Math.max(NEARLY_IDLE, own) && !burner.servesCalls();
    }

    /** The number of processors kept busy by all processes together. */
    public double busy() {
        return Math.max(0, own) + Math.max(0, others);
    }
}
