package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.eclipse.jetty.HttpOutput;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis.State;

/** Tests web requests whose answers are not written by the thread that began the request. */
class SlowDownloadsTest {

    private static final String EXPORT = "web.GET /export";

    private final Shop shop = new Shop().healthy(USUAL);
    private final CountDownLatch read = new CountDownLatch(1);
    private final CompletableFuture<String> rows = new CompletableFuture<>();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        read.countDown();
        rows.complete("");
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Starts a call that no longer has a thread. Another thread writes the answer of the call. */
    private CallLedger begin(Runnable writes) throws Exception {
        CallLedger ledger = new CallLedger(shop::now);
        ledger.turnTo(Phase.UNATTRIBUTED);
        CompletableFuture<CallLedger> part = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            part.complete(ledger.child());
            writes.run();
        });
        threads.add(thread);
        thread.start();
        part.get();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return ledger;
    }

    /** Serves calls within the target while four downloads run. The downloads end after eight seconds. */
    private void download(Runnable writes) throws Exception {
        List<CallLedger> downloads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            downloads.add(begin(writes));
        }
        long started = shop.now();
        for (int second = 0; second < 8; second++) {
            for (int look = 0; look < 4; look++) {
                shop.running.clear();
                long ran = shop.now() - started;
                downloads.forEach(ledger -> shop.running.add(
                        new RunningCall(EXPORT, RunningCall.NO_THREAD, Phase.UNATTRIBUTED, ran, ran, ledger)));
                shop.diagnostician.look();
                shop.pass(100);
            }
            shop.second(100, USUAL);
        }
        shop.running.clear();
        long took = shop.now() - started;
        downloads.forEach(ledger -> shop.diagnostician.observer().ended(EXPORT, ledger, took, shop.now(), null));
    }

    @Test
    void downloadsOverSlowLinksAreNoMiss() throws Exception {
        download(() -> HttpOutput.write(read));
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(State.HEALTHY);

        shop.second(100, USUAL);
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(State.HEALTHY);
    }

    @Test
    void downloadsThatWaitForTheirDataAreAMiss() throws Exception {
        download(() -> Packages.extra(rows));

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(State.MISS);
    }
}
