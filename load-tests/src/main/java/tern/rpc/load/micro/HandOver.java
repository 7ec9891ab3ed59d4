package tern.rpc.load.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import tern.rpc.concurrent.WorkerPool;

/**
 * Measures the cost of handing a task to a worker. One producer acts as an event loop: it sleeps briefly, like a thread
 * in a selector, and then submits a new task for each task that has ended. Therefore 200 tasks are always open, and 200
 * threads run them. All pools are measured alternately for several rounds, and the first round is discarded. The result
 * is the CPU time of the whole process per task. This time includes the CPU time of the producer, which is the same for
 * each pool.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.HandOver [rounds] [seconds] [pause in us]
 *     [task blocks us]</pre>
 */
public final class HandOver {

    private static final int THREADS = 200;
    private static final int OUTSTANDING = 200;
    private static final int PAUSE_MICROS = 100;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private HandOver() {}

    private record Result(double cpuMicros, double perSecond) {}

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2;
        int pauseMicros = arguments.length > 2 ? Integer.parseInt(arguments[2]) : PAUSE_MICROS;
        long blockMicros = arguments.length > 3 ? Long.parseLong(arguments[3]) : 0;
        Map<String, Supplier<Executor>> pools = new LinkedHashMap<>();
        pools.put("WorkerPool", () -> new WorkerPool(THREADS, 400, Duration.ofSeconds(60), Thread::new));
        pools.put(
                "ForkJoinPool, async",
                () -> new ForkJoinPool(THREADS, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true));
        pools.put("ThreadPoolExecutor, linked queue", () -> Executors.newFixedThreadPool(THREADS));
        pools.put(
                "ThreadPoolExecutor, synchronous queue",
                () -> new ThreadPoolExecutor(THREADS, THREADS, 60, TimeUnit.SECONDS, new WaitingHandOff()));

        Map<String, List<Result>> results = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Supplier<Executor>> pool : pools.entrySet()) {
                Result result = measure(pool.getValue().get(), seconds, pauseMicros, blockMicros);
                if (round > 0) {
                    results.computeIfAbsent(pool.getKey(), name -> new ArrayList<>())
                            .add(result);
                }
            }
        }
        print(results, rounds, seconds, pauseMicros, blockMicros);
    }

    /**
     * The queue of Dubbo's default pool, with one change. When no thread is free, this queue blocks, whereas Dubbo's
     * pool rejects the task.
     */
    private static final class WaitingHandOff extends SynchronousQueue<Runnable> {
        private static final long serialVersionUID = 1L;

        @Override
        public boolean offer(Runnable task) {
            try {
                put(task);
                return true;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    private static Result measure(Executor pool, int seconds, int pauseMicros, long blockMicros)
            throws InterruptedException {
        AtomicInteger finished = new AtomicInteger(OUTSTANDING);
        Runnable task = () -> {
            if (blockMicros > 0) {
                LockSupport.parkNanos(blockMicros * 1_000);
            }
            finished.incrementAndGet();
        };
        run(pool, task, finished, pauseMicros, TimeUnit.MILLISECONDS.toNanos(500));
        long cpu = PROCESS.getProcessCpuTime();
        long started = System.nanoTime();
        long tasks = run(pool, task, finished, pauseMicros, TimeUnit.SECONDS.toNanos(seconds));
        long elapsed = System.nanoTime() - started;
        double cpuMicros = (PROCESS.getProcessCpuTime() - cpu) / 1e3 / tasks;
        close(pool);
        return new Result(cpuMicros, tasks * 1e9 / elapsed);
    }

    private static long run(Executor pool, Runnable task, AtomicInteger finished, int pauseMicros, long nanos) {
        long end = System.nanoTime() + nanos;
        long tasks = 0;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(pauseMicros * 1_000L);
            int batch = finished.getAndSet(0);
            for (int i = 0; i < batch; i++) {
                pool.execute(task);
            }
            tasks += batch;
        }
        return tasks;
    }

    private static void close(Executor pool) throws InterruptedException {
        if (pool instanceof ExecutorService service) {
            service.shutdownNow();
            service.awaitTermination(10, TimeUnit.SECONDS);
        } else if (pool instanceof WorkerPool workers) {
            workers.close();
        }
    }

    private static void print(
            Map<String, List<Result>> results, int rounds, int seconds, int pauseMicros, long blockMicros) {
        System.out.printf(
                "JDK %s, %d processors, %d threads, %d us between batches, %d rounds of %d s in turn, task blocks %d us%n",
                Runtime.version(),
                Runtime.getRuntime().availableProcessors(),
                THREADS,
                pauseMicros,
                rounds,
                seconds,
                blockMicros);
        double first = Double.NaN;
        for (Map.Entry<String, List<Result>> pool : results.entrySet()) {
            List<Double> cpu =
                    pool.getValue().stream().map(Result::cpuMicros).sorted().toList();
            List<Double> rate =
                    pool.getValue().stream().map(Result::perSecond).sorted().toList();
            double median = cpu.get(cpu.size() / 2);
            first = Double.isNaN(first) ? median : first;
            System.out.printf(
                    "%-40s CPU us/task %6.2f [%.2f-%.2f]  ratio %.2f  tasks/s %,.0f%n",
                    pool.getKey(),
                    median,
                    cpu.get(0),
                    cpu.get(cpu.size() - 1),
                    median / first,
                    rate.get(rate.size() / 2));
        }
    }
}
