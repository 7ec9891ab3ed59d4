package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.stereotype.Component;

@Component
class Wrapping implements Step {

    private volatile ExecutorService wrappers = wrappers();

    Wrapping() {
        Switches.listen("executors-2", level -> {
            if (level == 0) {
                ExecutorService stuck = wrappers;
                wrappers = wrappers();
                stuck.shutdownNow();
            }
        });
    }

    private static ExecutorService wrappers() {
        return Executors.newFixedThreadPool(3, task -> {
            Thread thread = new Thread(task, "wrapper");
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("executors-2")) {
            wrap();
        }
    }

    private void wrap() {
        await(wrappers.submit(this::paper));
    }

    private void paper() {
        CompletableFuture<?>[] parts = new CompletableFuture<?>[2];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = CompletableFuture.runAsync(() -> Naps.millis((int) Switches.level("executors-2")), wrappers);
        }
        await(CompletableFuture.allOf(parts));
    }

    private static void await(java.util.concurrent.Future<?> result) {
        try {
            result.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
