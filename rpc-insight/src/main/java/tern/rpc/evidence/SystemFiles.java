package tern.rpc.evidence;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads small text files under a root directory and records which files could not be read. Not thread-safe: only one
 * thread uses it.
 */
final class SystemFiles {

    private final Path root;
    private final List<String> missing = new ArrayList<>();

    SystemFiles(Path root) {
        this.root = root;
    }

    /**
     * Reads a file.
     *
     * @return the content; empty if the file cannot be read. {@link #missing} reports files that cannot be read
     */
    String text(String path) {
        try {
            return new String(Files.readAllBytes(root.resolve(path)), StandardCharsets.ISO_8859_1);
        } catch (IOException | SecurityException e) {
            missing.add(path + ": " + reason(e));
            return "";
        }
    }

    boolean isDirectory(String path) {
        return Files.isDirectory(root.resolve(path));
    }

    boolean exists(String path) {
        return Files.exists(root.resolve(path));
    }

    /** Returns the path of each file that could not be read, with the reason. */
    List<String> missing() {
        return missing;
    }

    private static String reason(Exception e) {
        if (e instanceof NoSuchFileException) {
            return "not there";
        }
        if (e instanceof AccessDeniedException || e instanceof SecurityException) {
            return "not allowed";
        }
        return String.valueOf(e.getMessage());
    }
}
