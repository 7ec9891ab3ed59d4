package tern.rpc.evidence;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Finds native threads of this process by their names in the kernel, which have at most 15 characters. */
final class NativeThreads {

    /** The number of characters of a thread's name that the kernel stores. */
    static final int NAME_LENGTH = 15;

    private NativeThreads() {}

    /**
     * Returns the native ids of the threads with an accepted name. Reads a file for each thread of the process.
     *
     * @param tasks the folder {@code proc/self/task}
     */
    static List<Integer> find(Path tasks, Predicate<String> isWanted) {
        List<Integer> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(tasks)) {
            for (Path folder : folders) {
                if (isWanted.test(name(folder))) {
                    found.add(Integer.parseInt(folder.getFileName().toString()));
                }
            }
        } catch (IOException | RuntimeException e) {
            found.clear(); // The process does not run on Linux, or is not allowed to read its own task files.
        }
        return found;
    }

    private static String name(Path folder) {
        try {
            return Files.readString(folder.resolve("comm"), StandardCharsets.ISO_8859_1)
                    .strip();
        } catch (IOException e) {
            return ""; // The thread has ended, so its file no longer exists.
        }
    }
}
