package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VitalsReaderTest {

    private static final int MEGA = 1 << 20;

    @TempDir
    private Path proc;

    private final AtomicLong uptimeMillis = new AtomicLong(10_000);

    private void write(int received, int sent, int read, int written) throws IOException {
        Files.createDirectories(proc.resolve("net"));
        Files.createDirectories(proc.resolve("self"));
        Files.writeString(proc.resolve("net/dev"), """
                Inter-|   Receive                                                |  Transmit
                 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
                    lo: 999999999 1 0 0 0 0 0 0 999999999 1 0 0 0 0 0 0
                  eth0: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0
                """.formatted(received * MEGA, sent * MEGA));
        Files.writeString(
                proc.resolve("self/io"),
                "rchar: 1\nread_bytes: " + read * MEGA + "\nwrite_bytes: " + written * MEGA + "\n");
    }

    private String line(Vitals vitals, String name) {
        return vitals.lines().stream()
                .filter(line -> line.name().equals(name))
                .findFirst()
                .orElseThrow()
                .text();
    }

    @Test
    void fiveLinesComeInTheOrderInWhichTheyAreLookedAt() throws IOException {
        write(1, 1, 1, 1);

        assertThat(new VitalsReader(proc, uptimeMillis::get).read().lines())
                .extracting(Vitals.Line::name)
                .containsExactly("cpu", "memory", "network", "disk", "gc");
    }

    @Test
    void ratesAreThoseSinceTheLastLook() throws IOException {
        VitalsReader reader = new VitalsReader(proc, uptimeMillis::get);
        write(20, 10, 5, 40);
        Vitals first = reader.read();
        uptimeMillis.addAndGet(2_000);
        write(30, 11, 5, 48);
        Vitals second = reader.read();

        assertThat(line(first, "network")).isEqualTo("received 2.00 MB/s, sent 1.00 MB/s");
        assertThat(line(second, "network")).isEqualTo("received 5.00 MB/s, sent 0.50 MB/s");
        assertThat(line(second, "disk")).isEqualTo("read 0.00 MB/s, written 4.00 MB/s");
        assertThat(line(second, "gc")).endsWith("in 2 s");
    }

    @Test
    void whatTheSystemDoesNotTellIsLeftOut() {
        assertThat(new VitalsReader(proc, uptimeMillis::get).read().lines())
                .extracting(Vitals.Line::name)
                .containsExactly("cpu", "memory", "gc");
    }
}
