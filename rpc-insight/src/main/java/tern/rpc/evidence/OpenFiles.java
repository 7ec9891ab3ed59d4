package tern.rpc.evidence;

import java.util.List;

/**
 * The open files and sockets of this process.
 *
 * @param limit the maximum number of open files and sockets; -1 if unknown
 * @param open the number of open files and sockets; -1 if unknown
 * @param targets what they refer to, the most frequent target first
 */
public record OpenFiles(long limit, int open, List<Target> targets) {

    public static final OpenFiles UNKNOWN = new OpenFiles(-1, -1, List.of());

    public OpenFiles {
        targets = List.copyOf(targets);
    }

    /** The kinds of open files. */
    public enum Kind {
        FILE,
        SOCKET,
        PIPE,
        OTHER
    }

    /**
     * Open files or sockets that refer to the same target.
     *
     * @param name the target in words, for example {@code sockets to 10.0.0.7:8080}
     * @param left the number of sockets that the peer has closed and this process has not
     */
    public record Target(Kind kind, String name, int count, int left) {}

    /** Returns the number of open files or sockets with the given target. */
    public int countOf(String name) {
        return targets.stream()
                .filter(target -> target.name().equals(name))
                .mapToInt(Target::count)
                .sum();
    }
}
