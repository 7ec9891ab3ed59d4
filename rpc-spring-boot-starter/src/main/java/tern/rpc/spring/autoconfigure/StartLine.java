package tern.rpc.spring.autoconfigure;

import java.util.List;

/** The lines that an application logs once it has started, which stay short however many services it has. */
final class StartLine {

    private static final int MAX_NAMES = 20;

    private StartLine() {}

    /** The first ones by name, and how many more there are. */
    static String names(List<String> all) {
        if (all.isEmpty()) {
            return "none";
        }
        List<String> sorted = all.stream().sorted().toList();
        return sorted.size() <= MAX_NAMES
                ? String.join(", ", sorted)
                : String.join(", ", sorted.subList(0, MAX_NAMES)) + " and " + (sorted.size() - MAX_NAMES) + " more";
    }
}
