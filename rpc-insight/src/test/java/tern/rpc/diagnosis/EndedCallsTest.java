package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.sample.Sampler;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.ThreadIds;

/** Tests samples of calls that have ended, or that end soon. */
class EndedCallsTest {

    private final Path root = Path.of("/");
    private final Sampler sampler = new Sampler(new RunQueue(root, new ThreadIds(root)));
    private final CallLedger ledger = new CallLedger(System::nanoTime);

    private void look(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        sampler.look(List.of(new RunningCall(Shop.PLACE, thread.getId(), Phase.OWN, 1, 1, ledger)), System.nanoTime());
    }

    @Test
    void workerThatWaitsForItsNextCallIsNotSampled() throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(1);
        Thread worker = workers.submit(Thread::currentThread).get();

        look(worker);

        assertThat(sampler.samples()).isEmpty();
        workers.shutdown();
    }

    @Test
    void workerThatWaitsInItsCallIsSampled() throws Exception {
        CompletableFuture<String> end = new CompletableFuture<>();
        Thread worker = new Thread(() -> Packages.of(end));
        worker.start();

        look(worker);

        assertThat(sampler.samples()).containsKey(ledger);
        end.complete("");
        worker.join();
    }

    @Test
    void runningCallsAreSampledIfNewerCallsReplacedAllSampledCalls() throws Exception {
        CompletableFuture<String> end = new CompletableFuture<>();
        Thread worker = new Thread(() -> Packages.of(end));
        worker.start();
        Shop shop = new Shop().healthy(Shop.USUAL);
        for (int second = 0; second < 6; second++) {
            shop.running.clear();
            CallLedger running = new CallLedger(shop::now);
            shop.running.add(new RunningCall(Shop.PLACE, worker.getId(), Phase.OWN, 300_000_000, 300_000_000, running));
            shop.second(100, call -> call.own(400));
        }

        assertThat(Shop.first(shop.diagnosis()).kind()).isEqualTo("WAITS FOR A RESULT");
        end.complete("");
        worker.join();
    }
}
