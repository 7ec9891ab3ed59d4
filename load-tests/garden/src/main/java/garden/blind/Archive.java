package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Writes to a named pipe that simulates a slow volume. */
@Component
class Archive implements Step {

    private volatile @Nullable OutputStream out;

    @Override
    public void place(int id) {
        OutputStream file = out;
        if (Switches.on("disk-2") && file != null) {
            store(file);
        }
    }

    Archive() {
        Switches.listen("disk-2", level -> {
            if (level > 0) {
                open();
            } else {
                out = null;
            }
        });
    }

    private void open() {
        try {
            Path pipe = Files.createTempDirectory("volume").resolve("archive");
            if (new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() != 0) {
                return;
            }
            Thread reader = new Thread(() -> read(pipe), "volume");
            reader.setDaemon(true);
            reader.start();
            out = new FileOutputStream(pipe.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void read(Path pipe) {
        try (InputStream in = new FileInputStream(pipe.toFile())) {
            byte[] buffer = new byte[32_768];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                double level = Switches.level("disk-2");
                Naps.millis(level > 0 ? (int) (length / level) : 0);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void store(OutputStream file) {
        try {
            file.write(new byte[40_000]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
