package shop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Application code with an executor in a static field. */
public final class Parcels {

    private static final List<Thread> THREADS = new CopyOnWriteArrayList<>();

    private static final ThreadPoolExecutor BOXES =
            new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), task -> {
                Thread thread = new Thread(task, "boxes-" + THREADS.size());
                THREADS.add(thread);
                return thread;
            });

    private Parcels() {}

    /** Submits more tasks than the executor has threads. */
    public static ThreadPoolExecutor start(CompletableFuture<String> answer) {
        for (int i = 0; i < 5; i++) {
            BOXES.execute(() -> Packages.extra(answer));
        }
        return BOXES;
    }

    public static List<Thread> threads() {
        return THREADS;
    }
}
