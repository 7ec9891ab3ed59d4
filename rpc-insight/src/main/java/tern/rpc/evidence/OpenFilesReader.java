package tern.rpc.evidence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.OpenFiles.Kind;
import tern.rpc.evidence.OpenFiles.Target;

/** Reads the open files and sockets of this process from {@code /proc}. */
public final class OpenFilesReader {

    private static final String SOCKET = "socket:[";
    private static final String DELETED = " (deleted)";

    /** If there are more open files, only some of them are read, and stand for all. */
    private static final int MAX_READ = 20_000;

    /** The names of objects of the kernel that are no files. */
    private static final Map<String, String> OTHERS = Map.of(
            "anon_inode:[eventpoll]", "selectors (epoll)",
            "anon_inode:[eventfd]", "event counters (eventfd)",
            "anon_inode:inotify", "watches of folders (inotify)");

    private final Path root;

    /** @param root the folder that contains {@code proc}; {@code /} in production */
    public OpenFilesReader(Path root) {
        this.root = root;
    }

    /** Returns the number of open files and sockets; -1 if it cannot be read, for example because none is free. */
    public int count() {
        String[] names = names();
        return names == null ? -1 : names.length;
    }

    /** Returns the maximum number of open files and sockets; -1 if unknown. */
    public long limit() {
        String limit = Figures.textAfter(new SystemFiles(root).text("proc/self/limits"), "Max open files");
        return limit.isBlank() ? -1 : Figures.number(limit.strip().split("\\s+")[0]);
    }

    private String @Nullable [] names() {
        // Other ways to list a folder need two free file descriptors.
        return root.resolve("proc/self/fd").toFile().list();
    }

    /** Reads what all open files and sockets refer to. Returns null if this is not possible. */
    public @Nullable OpenFiles read() {
        String[] names = names();
        if (names == null) {
            return null;
        }
        int step = 1 + names.length / MAX_READ;
        List<String> links = new ArrayList<>();
        for (int i = 0; i < names.length; i += step) {
            String link = link(names[i]);
            if (link != null) {
                links.add(link);
            }
        }
        // The list also contains the folder that was read, which is closed by now.
        int open = step == 1 ? links.size() : names.length;
        return new OpenFiles(limit(), open, targets(links, step));
    }

    private @Nullable String link(String number) {
        try {
            return Files.readSymbolicLink(root.resolve("proc/self/fd").resolve(number))
                    .toString();
        } catch (IOException | RuntimeException e) {
            return null; // the file was closed in the meantime
        }
    }

    private List<Target> targets(List<String> links, int step) {
        Map<String, SocketTable.Peer> peers =
                links.stream().anyMatch(link -> link.startsWith(SOCKET)) ? SocketTable.read(root) : Map.of();
        Map<String, Counted> counts = new HashMap<>();
        for (String link : links) {
            if (link.startsWith(SOCKET)) {
                SocketTable.Peer peer =
                        peers.getOrDefault(link.substring(SOCKET.length(), link.length() - 1), SocketTable.Peer.NONE);
                counts.computeIfAbsent(peer.name(), name -> new Counted(Kind.SOCKET))
                        .add(link, peer.isLeft());
            } else if (link.startsWith("/")) {
                String path = link.endsWith(DELETED) ? link.substring(0, link.length() - DELETED.length()) : link;
                counts.computeIfAbsent("files in " + folder(path), name -> new Counted(Kind.FILE))
                        .add(path, false);
            } else {
                boolean isPipe = link.startsWith("pipe:");
                counts.computeIfAbsent(
                                isPipe ? "pipes" : OTHERS.getOrDefault(link, "objects of the kernel"),
                                name -> new Counted(isPipe ? Kind.PIPE : Kind.OTHER))
                        .add(link, false);
            }
        }
        return counts.entrySet().stream()
                .map(entry -> entry.getValue().target(entry.getKey(), step))
                .sorted(Comparator.comparingInt(Target::count).reversed().thenComparing(Target::name))
                .toList();
    }

    private static String folder(String path) {
        int end = path.lastIndexOf('/');
        return end <= 0 ? "/" : path.substring(0, end);
    }

    /** Open files with the same target. */
    private static final class Counted {
        private final Kind kind;
        private final Map<String, Integer> byLink = new HashMap<>();
        private int count;
        private int left;

        Counted(Kind kind) {
            this.kind = kind;
        }

        void add(String link, boolean isLeft) {
            count++;
            left += isLeft ? 1 : 0;
            byLink.merge(link, 1, Integer::sum);
        }

        /** Names a single file instead of its folder if most of the open files are this file. */
        Target target(String name, int step) {
            String file = kind != Kind.FILE || count == 1
                    ? null
                    : byLink.entrySet().stream()
                            .filter(entry -> 2 * entry.getValue() > count)
                            .map(Map.Entry::getKey)
                            .findFirst()
                            .orElse(null);
            return new Target(kind, file == null ? name : "file " + file, count * step, left * step);
        }
    }
}
