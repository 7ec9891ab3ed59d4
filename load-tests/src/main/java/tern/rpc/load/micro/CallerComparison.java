package tern.rpc.load.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.load.replay.Facts;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;
import tern.sample.api.UserService;

/**
 * Measures the cost of waiting for an answer, with many callers and one thread that acts as an event loop. The event
 * loop sleeps, and then answers all calls that arrived in the meantime. A Tern caller parks immediately and decodes the
 * answer on its own thread. The wait is compared with {@code CompletableFuture.get} with and without a timeout. The
 * variants run alternately for several rounds, and the first round is discarded. The result is the process's CPU time
 * per call.
 *
 * <p>Dubbo 2.7 lost time because {@code get} used to spin. This effect no longer occurs on a current JDK: since JDK 9,
 * a thread in {@code get} yields only a few times, which takes too little time to measure.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.CallerComparison [rounds] [seconds]
 * [callers]</pre>
 */
public final class CallerComparison {

    private static final int PAUSE_MICROS = 100;
    private static final long TIMEOUT_SECONDS = 60;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private CallerComparison() {}

    private interface Waiting {

        void answer(Response response);

        Object await() throws Throwable;
    }

    private record Figures(double cpuMicros, double perSecond, double load) {}

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2;
        int callers = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        Invocation call = call();
        Map<String, Supplier<Waiting>> ways = new LinkedHashMap<>();
        ways.put("ours: parks, decodes itself", () -> new Ours(call));
        ways.put("CompletableFuture.get()", () -> new Future(false));
        ways.put("CompletableFuture.get(timeout)", () -> new Future(true));
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Supplier<Waiting>> way : ways.entrySet()) {
                Figures measured = measure(way.getValue(), callers, seconds);
                if (round > 0) {
                    figures.computeIfAbsent(way.getKey(), added -> new ArrayList<>())
                            .add(measured);
                }
            }
        }
        print(figures, rounds, seconds, callers);
    }

    private static Invocation call() {
        ServiceDescriptor service = ServiceDescriptor.of(UserService.class);
        return new Invocation(
                new ServiceKey(service.name(), "", ""),
                service.overloads("existUser").get(0),
                new Object[] {"1236"},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
    }

    private static final class Ours implements Waiting {

        private final PendingCall pending;

        Ours(Invocation call) {
            pending = new PendingCall(call, false, 0, null);
        }

        @Override
        public void answer(Response response) {
            pending.answer(new Given(response));
        }

        @Override
        public Object await() throws Throwable {
            return pending.await();
        }
    }

    private record Given(Response response) implements Answer {
        @Override
        public Response decode(Invocation call) {
            return response;
        }

        @Override
        public void discard() {}
    }

    private static final class Future implements Waiting {

        private final CompletableFuture<Response> future = new CompletableFuture<>();
        private final boolean limited;

        Future(boolean limited) {
            this.limited = limited;
        }

        @Override
        public void answer(Response response) {
            future.complete(response);
        }

        @Override
        public Object await() throws Throwable {
            return limited ? future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS) : future.get();
        }
    }

    private static Figures measure(Supplier<Waiting> way, int callers, int seconds) throws InterruptedException {
        ConcurrentLinkedQueue<Waiting> sent = new ConcurrentLinkedQueue<>();
        AtomicLong calls = new AtomicLong();
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch ended = new CountDownLatch(callers);
        Thread loop = new Thread(() -> answerAll(sent, over, ended), "answers");
        loop.start();
        for (int i = 0; i < callers; i++) {
            new Thread(() -> callOn(way, sent, calls, over, ended), "caller-" + i).start();
        }
        TimeUnit.MILLISECONDS.sleep(500); // The callers warm up during this pause.
        long callsBefore = calls.get();
        long cpu = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();
        TimeUnit.SECONDS.sleep(seconds);
        long made = calls.get() - callsBefore;
        double cpuMicros = (PROCESS.getProcessCpuTime() - cpu) / 1e3 / made;
        double perSecond = made * 1e9 / (System.nanoTime() - began);
        over.set(true);
        ended.await();
        loop.join();
        return new Figures(
                cpuMicros,
                perSecond,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static void callOn(
            Supplier<Waiting> way,
            ConcurrentLinkedQueue<Waiting> sent,
            AtomicLong calls,
            AtomicBoolean over,
            CountDownLatch ended) {
        try {
            while (!over.get()) {
                Waiting call = way.get();
                sent.add(call);
                call.await();
                calls.incrementAndGet();
            }
        } catch (Throwable e) {
            throw new IllegalStateException("a call failed", e);
        } finally {
            ended.countDown();
        }
    }

    private static void answerAll(ConcurrentLinkedQueue<Waiting> sent, AtomicBoolean over, CountDownLatch ended) {
        Response response = Response.of(true);
        while (!over.get() || ended.getCount() > 0) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(PAUSE_MICROS));
            Waiting call;
            while ((call = sent.poll()) != null) {
                call.answer(response);
            }
        }
    }

    private static void print(Map<String, List<Figures>> figures, int rounds, int seconds, int callers) {
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.printf("%d callers, %d rounds of %d s in turn%n", callers, rounds, seconds);
        figures.forEach((name, measured) -> System.out.printf(
                Locale.ROOT,
                "%-32s CPU us/call %6.2f  calls/s %,9.0f  load average %.1f%n",
                name,
                median(measured.stream().map(Figures::cpuMicros).toList()),
                median(measured.stream().map(Figures::perSecond).toList()),
                median(measured.stream().map(Figures::load).toList())));
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
