package garden.shop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class Basket {

    private static final Logger LOG = LoggerFactory.getLogger(Basket.class);

    private final Map<Integer, String> seals = new HashMap<>();
    private final ReentrantLock book = new ReentrantLock();
    private final Map<Integer, String> labels = new ConcurrentHashMap<>();
    private static final List<byte[]> KEPT = new ArrayList<>();

    @SuppressWarnings("unused")
    private volatile int sorted; // keeps the optimizer from removing the work

    private volatile CountDownLatch gate = new CountDownLatch(1);

    void check(int id) {
        stamp(id);
        number(id);
        label();

        if (Switches.on("sleeps")) {
            pause();
        }
        if (Switches.on("computes")) {
            sorted = sort(id);
        }
        if (Switches.on("fails")) {
            refuse(id);
        }
        if (Switches.on("common-pool")) {
            gather();
        }
        if (Switches.on("file-sync")) {
            note();
        }
        if (Switches.on("allocates")) {
            copy();
        }
        if (Switches.on("logs")) {
            LOG.info("basket {} checked", id);
        }
        if (Switches.on("hangs")) {
            await();
        }
    }

    private synchronized void stamp(int id) {
        seals.put(id % 100, "seal");
        if (Switches.on("monitor")) {
            Naps.millis(15);
        }
    }

    private void number(int id) {
        book.lock();
        try {
            if (Switches.on("lock")) {
                Naps.millis(15 + id % 2);
            }
        } finally {
            book.unlock();
        }
    }

    private void label() {
        if (Switches.on("map-compute")) {
            labels.compute(1, (key, value) -> {
                Naps.millis(15);
                return "label";
            });
        }
    }

    private void pause() {
        try {
            Thread.sleep(130);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int sort(int id) {
        int sum = id;
        long end = System.nanoTime() + 140_000_000;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1_000; i++) {
                sum = sum * 31 + i;
            }
        }
        return sum;
    }

    private void refuse(int id) {
        if (id % 3 == 0) {
            throw new IllegalArgumentException("basket " + id);
        }
    }

    private void gather() {
        CompletableFuture.supplyAsync(() -> Naps.millis(30)).join();
    }

    private void note() {
        Path path = Path.of(System.getProperty("java.io.tmpdir"), "garden-notes");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 150; i++) {
                file.write(ByteBuffer.wrap(new byte[4_096]), i * 4_096L);
                file.force(true);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void copy() {
        for (int i = 0; i < 40; i++) {
            KEPT_LAST = new byte[500_000];
        }
    }

    @SuppressWarnings("unused") // keeps the optimizer from removing the allocation
    private static volatile byte[] KEPT_LAST = new byte[0];

    /** Fills this share of the heap with live objects. */
    static void fill(double share) {
        long wanted = (long) (Runtime.getRuntime().maxMemory() * share);
        for (long size = 0; size < wanted; size += 500_000) {
            KEPT.add(new byte[500_000]);
        }
    }

    static void empty() {
        KEPT.clear();
    }

    private void await() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void open() {
        gate.countDown();
        gate = new CountDownLatch(1);
    }

    static void forget() throws IOException {
        Files.deleteIfExists(Path.of(System.getProperty("java.io.tmpdir"), "garden-notes"));
    }
}
