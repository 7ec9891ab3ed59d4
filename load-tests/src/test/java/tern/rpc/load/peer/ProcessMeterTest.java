package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMeterTest {

    @Test
    void bytesOfThreadsThatEndedCountToo(@TempDir Path nothing) throws InterruptedException {
        ProcessMeter meter = new ProcessMeter(nothing);
        ProcessCost before = meter.before();
        CountDownLatch allocated = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicReference<Object> kept = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            kept.set(new byte[50_000_000]);
            allocated.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        allocated.await();
        meter.after(); // waits until the meter has sampled the live thread
        mayEnd.countDown();
        thread.join();

        assertThat(meter.after().since(before).bytes()).isGreaterThan(50_000_000);
    }

    @Test
    void readsTheFiguresOfLinux(@TempDir Path process) throws IOException {
        Files.writeString(process.resolve("io"), "rchar: 7\nsyscr: 1\nsyscw: 42\n");
        for (String thread : new String[] {"1", "2"}) {
            Files.createDirectories(process.resolve("task").resolve(thread));
            Files.writeString(
                    process.resolve("task").resolve(thread).resolve("status"),
                    "Name:\tjava\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t3\n");
        }

        ProcessCost read = new ProcessMeter(process).after();

        assertThat(read.writes()).isEqualTo(42);
        assertThat(read.switches()).isEqualTo(26);
    }

    @Test
    void unknownFigureIsReportedAsUnknown(@TempDir Path nothing) {
        ProcessCost read = new ProcessMeter(nothing).before();

        assertThat(read.writes()).isEqualTo(ProcessCost.UNKNOWN);
        assertThat(read.switches()).isEqualTo(ProcessCost.UNKNOWN);
        assertThat(read.since(read).writes()).isEqualTo(ProcessCost.UNKNOWN);
    }
}
