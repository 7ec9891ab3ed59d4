package tern.rpc.netty.dubbo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tern.rpc.netty.peer.RawFrame;

/** Reads the files with captured bytes. */
final class Fixtures {

    private Fixtures() {}

    static byte[] bytes(String path) {
        try {
            return Files.readAllBytes(root().resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static RawFrame frame(String path) {
        return RawFrame.of(bytes(path));
    }

    static List<RawFrame> frames(String path) {
        byte[] bytes = bytes(path);
        List<RawFrame> frames = new ArrayList<>();
        int offset = 0;
        while (offset < bytes.length) {
            RawFrame frame = RawFrame.of(bytes, offset);
            frames.add(frame);
            offset += frame.length();
        }
        return frames;
    }

    /**
     * Returns the names of the files in a folder that end with the given suffix. The returned names do not contain the
     * suffix.
     */
    static Set<String> names(String folder, String ending) {
        try (Stream<Path> files = Files.list(root().resolve(folder))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(ending))
                    .map(name -> name.substring(0, name.length() - ending.length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path root() {
        try {
            return Path.of(
                    Objects.requireNonNull(Fixtures.class.getResource("/wire")).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
