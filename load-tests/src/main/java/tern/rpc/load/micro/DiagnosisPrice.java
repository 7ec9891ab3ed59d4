package tern.rpc.load.micro;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.diagnosis.Surroundings;
import tern.rpc.load.replay.Facts;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolSource;

/**
 * Measures the cost per call of the ledger (the record of a call's phases) and of the diagnosis, as processor time and
 * allocated bytes of the calling thread. The same calls run in one process, in rounds of one second. Rounds with the
 * ledger and the diagnosis alternate with rounds without them. The processor time of the diagnosis thread is shown as a
 * share of the elapsed time.
 *
 * <pre>load-tests/micro price [pairs] [operations]</pre>
 */
public final class DiagnosisPrice {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long ROUND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int WARM_UPS = 5;
    private static final int CALLS_BETWEEN_CLOCK_READINGS = 1_000;

    private DiagnosisPrice() {}

    private record Round(double micros, double bytes) {}

    public static void main(String[] arguments) {
        int pairs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 30;
        int operations = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10;
        LedgerBenchmark without = started(false, operations);
        LedgerBenchmark with = started(true, operations);
        Diagnosing diagnosing = new Diagnosing(with);
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("load average before: " + Facts.loadAverage() + "; operations per call: " + operations);
        for (int i = 0; i < WARM_UPS; i++) {
            round(without);
            round(with);
        }
        print(pairs, without, with, diagnosing);
        diagnosing.stop();
        without.stop();
        with.stop();
    }

    private static void print(int pairs, LedgerBenchmark without, LedgerBenchmark with, Diagnosing diagnosing) {
        double[] micros = new double[pairs];
        double[] bytes = new double[pairs];
        double[] ratios = new double[pairs];
        long cpu = diagnosing.cpuNanos();
        long start = System.nanoTime();
        System.out.println(
                "| pair | us without | us with | ratio | difference | bytes without | bytes with | difference |");
        System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- |");
        for (int i = 0; i < pairs; i++) {
            // The order within each pair alternates, so that gradual changes in the speed of the machine cancel out.
            boolean first = i % 2 == 0;
            Round off = first ? round(without) : null;
            Round on = round(with);
            off = off == null ? round(without) : off;
            micros[i] = on.micros() - off.micros();
            bytes[i] = on.bytes() - off.bytes();
            ratios[i] = on.micros() / off.micros();
            System.out.printf(
                    "| %d | %.3f | %.3f | %.2f | %.3f | %.0f | %.0f | %.0f |%n",
                    i + 1, off.micros(), on.micros(), ratios[i], micros[i], off.bytes(), on.bytes(), bytes[i]);
        }
        System.out.printf(
                "median: %.3f us and %.0f bytes a call more, ratio %.2f; thread of the diagnosis: %.2f %% of a processor%n",
                median(micros),
                median(bytes),
                median(ratios),
                100.0 * (diagnosing.cpuNanos() - cpu) / (System.nanoTime() - start));
    }

    private static LedgerBenchmark started(boolean ledger, int operations) {
        LedgerBenchmark calls = new LedgerBenchmark();
        calls.ledger = ledger;
        calls.operations = operations;
        calls.start();
        return calls;
    }

    private static Round round(LedgerBenchmark calls) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long count = 0;
        for (long until = System.nanoTime() + ROUND_NANOS; System.nanoTime() < until; ) {
            for (int i = 0; i < CALLS_BETWEEN_CLOCK_READINGS; i++) {
                if (calls.call() == null) {
                    throw new IllegalStateException("a call has no answer");
                }
            }
            count += CALLS_BETWEEN_CLOCK_READINGS;
        }
        return new Round(
                (THREADS.getCurrentThreadCpuTime() - cpu) / 1e3 / count,
                (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / count);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Runs the diagnosis of one server every second on a separate thread. */
    private static final class Diagnosing implements Surroundings {

        private final LedgerBenchmark calls;
        private final Diagnostician diagnostician;
        private final Thread thread = new Thread(this::run, "rpc-diagnosis");
        private volatile boolean stopped;

        Diagnosing(LedgerBenchmark calls) {
            this.calls = calls;
            diagnostician = Diagnostician.of(calls.meters, this);
            calls.meters.observe(diagnostician.observer());
            diagnostician.start(false);
            thread.setDaemon(true);
            thread.start();
        }

        private void run() {
            while (!stopped) {
                LockSupport.parkNanos(ROUND_NANOS);
                diagnostician.second();
            }
        }

        long cpuNanos() {
            return THREADS.getThreadCpuTime(thread.getId());
        }

        void stop() {
            stopped = true;
            diagnostician.stop();
        }

        @Override
        public List<RunningCall> running() {
            return calls.running();
        }

        @Override
        public Map<String, Long> refused() {
            return Map.of();
        }

        @Override
        public List<PoolSource> pools() {
            return List.of();
        }

        @Override
        public LoggingMode logging() {
            return LoggingMode.ASYNCHRONOUS;
        }
    }
}
