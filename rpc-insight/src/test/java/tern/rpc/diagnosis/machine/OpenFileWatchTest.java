package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenFileWatchTest {

    @TempDir
    private Path root;

    private int next;

    @BeforeEach
    void createFolders() throws IOException {
        Files.createDirectories(root.resolve("proc/self/fd"));
        Files.createDirectories(root.resolve("dev"));
        Files.createFile(root.resolve("dev/null"));
        Files.writeString(root.resolve("proc/self/limits"), "Max open files            100      4096       files\n");
    }

    private void open(int times, String target) throws IOException {
        for (int i = 0; i < times; i++) {
            Files.createSymbolicLink(root.resolve("proc/self/fd/" + next++), Path.of(target));
        }
    }

    private static long minutes(int count) {
        return TimeUnit.MINUTES.toNanos(count);
    }

    @Test
    void targetThatHasGrownMostIsTheLeak() throws IOException {
        OpenFileWatch watch = new OpenFileWatch(root);
        watch.start();
        open(40, "/app/lib/a.jar");
        open(5, "/data/proofs/1");
        watch.second(minutes(1));
        open(40, "/data/proofs/2");
        watch.second(minutes(3));
        watch.stop();

        OpenFileUse use = watch.use();
        assertThat(use.leak()).isNotNull();
        assertThat(use.leak().name()).isEqualTo("file /data/proofs/2");
        assertThat(use.line())
                .startsWith("open     85 of 100 files and sockets: 45 file /data/proofs/2 (2 min before: 0)");
    }

    @Test
    void mostFrequentTargetIsTheLeakIfNothingIsKnownOfEarlierTimes() throws IOException {
        OpenFileWatch watch = new OpenFileWatch(root);
        open(10, "/app/lib/a.jar");
        open(80, "pipe:[7]");
        watch.second(minutes(1));

        assertThat(watch.use().leak().name()).isEqualTo("pipes");
        assertThat(watch.use().line())
                .isEqualTo("open     90 of 100 files and sockets: 80 pipes, 10 file /app/lib/a.jar");
        assertThat(watch.use().warning()).endsWith("at the limit (ulimit -n), nothing can be opened");
    }

    @Test
    void processFarFromItsLimitHasNoLeak() throws IOException {
        OpenFileWatch watch = new OpenFileWatch(root);
        open(70, "pipe:[7]");
        watch.second(minutes(1));

        assertThat(watch.use().leak()).isNull();
        assertThat(watch.use().warning()).isEmpty();
    }

    @Test
    void filesAreReadAtMostOnceAMinuteWhileFewAreOpen() throws IOException {
        OpenFileWatch watch = new OpenFileWatch(root);
        open(10, "pipe:[7]");
        watch.second(minutes(1));
        open(10, "pipe:[8]");
        watch.second(minutes(1) + TimeUnit.SECONDS.toNanos(30));

        assertThat(watch.use().now().open()).isEqualTo(10);
    }

    @Test
    void filesAreReadEveryFewSecondsWhileManyAreOpen() throws IOException {
        OpenFileWatch watch = new OpenFileWatch(root);
        open(10, "pipe:[7]");
        watch.second(minutes(1));
        open(60, "pipe:[8]");
        watch.second(minutes(1) + TimeUnit.SECONDS.toNanos(6));

        assertThat(watch.use().now().open()).isEqualTo(70);
    }

    @Test
    void nothingIsReadWithoutTheFoldersOfTheKernel() {
        OpenFileWatch watch = new OpenFileWatch(root.resolve("other"));
        watch.start();
        watch.second(minutes(1));

        assertThat(watch.use()).isEqualTo(OpenFileUse.UNKNOWN);
    }
}
