package tern.rpc.registry.dubbo;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Parses and extends a mapping: the names of the applications that offer an interface, separated by commas. A mapping
 * can contain applications that are no longer running.
 */
public final class Mapping {

    private Mapping() {}

    /** Returns the number of valid application names without duplicates, even if this number exceeds the limit. */
    public static int count(String text) {
        Set<String> names = new HashSet<>();
        for (String part : text.split(",", -1)) {
            if (isName(part.trim())) {
                names.add(part.trim());
            }
        }
        return names.size();
    }

    /**
     * Returns the application names without duplicates, at most {@value Limits#MAX_APPLICATIONS}. Invalid names are
     * omitted.
     */
    public static List<String> parse(String text) {
        Limits.check("the length of the mapping", text.length(), Limits.MAX_ENTRY);
        Set<String> names = new LinkedHashSet<>();
        for (String part : text.split(",", -1)) {
            String name = part.trim();
            if (isName(name) && names.size() < Limits.MAX_APPLICATIONS) {
                names.add(name);
            }
        }
        return List.copyOf(names);
    }

    /**
     * Appends a name to a mapping. Returns the mapping unchanged if it already contains the name. Names are never
     * removed or reordered.
     */
    public static String with(String text, String application) {
        if (text.isBlank()) {
            return application;
        }
        for (String part : text.split(",", -1)) {
            if (part.trim().equals(application)) {
                return text;
            }
        }
        return text + "," + application;
    }

    /**
     * Returns whether the string is a valid application name. Characters that are not permitted in ZooKeeper paths are
     * invalid, because the name becomes part of such paths.
     */
    public static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= Limits.MAX_NAME
                && !name.equals(".")
                && !name.equals("..")
                && name.chars().noneMatch(c -> c == '/' || c == '\\' || Character.isISOControl(c) || c > 0xD7FF);
    }
}
