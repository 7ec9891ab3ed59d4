package tern.rpc.evidence;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Unpacks kernel files from one test resource. In the resource, each file begins with a line {@code === path}. */
final class RecordedTree {

    private final Path root;

    private RecordedTree(Path root) {
        this.root = root;
    }

    static RecordedTree unpack(String resource, Path root) {
        RecordedTree tree = new RecordedTree(root);
        String[] parts = content(resource).split("(?m)^=== ");
        for (int i = 1; i < parts.length; i++) { // parts[0] describes where the recording comes from
            int end = parts[i].indexOf('\n');
            tree.write(parts[i].substring(0, end), parts[i].substring(end + 1));
        }
        return tree;
    }

    Path root() {
        return root;
    }

    RecordedTree write(String path, String text) {
        try {
            Path file = root.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String read(String path) {
        try {
            return Files.readString(root.resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RecordedTree replace(String path, String before, String after) {
        try {
            return write(path, Files.readString(root.resolve(path)).replace(before, after));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RecordedTree delete(String path) {
        try {
            Files.delete(root.resolve(path));
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String content(String resource) {
        try (InputStream in = RecordedTree.class.getResourceAsStream("/evidence/" + resource)) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
