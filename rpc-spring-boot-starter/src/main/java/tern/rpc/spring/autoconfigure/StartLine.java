package tern.rpc.spring.autoconfigure;

import java.util.List;

/** Formats the lines that are logged after startup. The lines stay short even if there are many services. */
final class StartLine {

    private static final int MAX_NAMES = 20;

    private StartLine() {}

    /** Returns the number and the noun, in the singular or plural, such as {@code 1 service}. */
    static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** Returns the first few of the given names, followed by the number of names that are left out. */
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
