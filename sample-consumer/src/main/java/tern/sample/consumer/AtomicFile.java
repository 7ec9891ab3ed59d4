package tern.sample.consumer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes small files that scripts wait for. A file becomes visible only when its content is complete. */
final class AtomicFile {

    private AtomicFile() {}

    static void write(Path file, String content) throws IOException {
        Path target = file.toAbsolutePath();
        Path unfinished = Files.createTempFile(target.getParent(), "unfinished", ".tmp");
        Files.writeString(unfinished, content);
        Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
