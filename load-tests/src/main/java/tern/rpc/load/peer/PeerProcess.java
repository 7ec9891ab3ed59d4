package tern.rpc.load.peer;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import tern.sample.api.User;

/**
 * One side of a comparison in a process of its own. It obeys lines on its standard input and answers on its output:
 * {@code cpu} tells the CPU time used so far, {@code run SCENE CALLERS MILLIS} makes calls, {@code end} ends.
 */
public final class PeerProcess {

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private PeerProcess() {}

    /** @param arguments {@code server|client PEER PORT} */
    public static void main(String[] arguments) throws Exception {
        Peer peer = Peer.named(arguments[1]);
        int port = Integer.parseInt(arguments[2]);
        Peer.Services services = null;
        if (arguments[0].equals("server")) {
            BenchmarkServices target = new BenchmarkServices();
            peer.serve(port, new Peer.Services(target, target, target));
        } else {
            services = peer.connect(port);
        }
        answer("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = commands.readLine()) != null && !line.equals("end")) {
            String[] words = line.split(" ");
            if (words[0].equals("cpu")) {
                answer("cpu " + PROCESS.getProcessCpuTime() + " " + allocatedBytes());
            } else if (services != null) {
                answer(run(services, words[1], Integer.parseInt(words[2]), Long.parseLong(words[3])));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(String text) {
        System.out.println("PEER " + text);
        System.out.flush();
    }

    private static long allocatedBytes() {
        return Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
                .filter(bytes -> bytes > 0)
                .sum();
    }

    private static String run(Peer.Services services, String scene, int callers, long millis)
            throws InterruptedException, IOException {
        Scene call = Scene.of(scene, services);
        AtomicLong calls = new AtomicLong();
        AtomicLong errors = new AtomicLong();
        AtomicLong ownBytes = new AtomicLong();
        long othersBefore = allocatedBytes();
        long[][] latencies = new long[callers][];
        CountDownLatch done = new CountDownLatch(callers);
        long end = System.nanoTime() + millis * 1_000_000;
        for (int i = 0; i < callers; i++) {
            int caller = i;
            Thread thread = new Thread(() -> {
                long[] own = new long[4_096];
                int count = 0;
                while (System.nanoTime() < end) {
                    long started = System.nanoTime();
                    try {
                        if (!call.isRight()) {
                            errors.incrementAndGet();
                        }
                    } catch (RuntimeException e) {
                        errors.incrementAndGet();
                    }
                    own[count++ % own.length] = System.nanoTime() - started;
                }
                calls.addAndGet(count);
                ownBytes.addAndGet(
                        THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()));
                latencies[caller] = Arrays.copyOf(own, Math.min(count, own.length));
                done.countDown();
            });
            thread.start();
        }
        done.await();
        long[] all =
                Arrays.stream(latencies).flatMapToLong(Arrays::stream).sorted().toArray();
        return String.format(
                Locale.ROOT,
                "ran %d %d %d %d %d",
                calls.get(),
                errors.get(),
                all.length == 0 ? 0 : all[all.length / 2],
                all.length == 0 ? 0 : all[(int) (all.length * 0.99)],
                ownBytes.get() + allocatedBytes() - othersBefore);
    }

    /** One kind of call, whose answer is checked. */
    private interface Scene {

        boolean isRight();

        static Scene of(String name, Peer.Services services) {
            User user = BenchmarkServices.user(1);
            String kilobyte = "x".repeat(1_024);
            String large = "x".repeat(50 * 1_024);
            return switch (name) {
                case "existUser" -> () -> services.users().existUser("1236");
                case "createUser" -> () -> services.users().createUser(user);
                case "getUser" ->
                    () -> {
                        User got = services.users().getUser(7);
                        return got != null && got.getId() == 7;
                    };
                case "listUser" ->
                    () -> services.users().listUser(1).getResult().size() == 15;
                case "1KB" -> () -> services.echo().echo(kilobyte).length() == kilobyte.length();
                case "50KB" -> () -> services.echo().echo(large).length() == large.length();
                case "work" -> () -> services.work().build(10_000).length() == kilobyte.length();
                default -> throw new IllegalArgumentException("scene '" + name + "' is not known");
            };
        }
    }
}
