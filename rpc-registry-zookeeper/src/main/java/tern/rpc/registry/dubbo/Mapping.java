package tern.rpc.registry.dubbo;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The names of the applications that offer an interface, as one text with commas. A name may be of a dead one. */
public final class Mapping {

    private Mapping() {}

    /** The names, each once. Those that are no names of an application are left out. */
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

    /** The text with one more name, or the same text if it has that name. Nothing is removed or put in order. */
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

    /** Whether the text may be the name of an application: it becomes a part of paths. */
    static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= Limits.MAX_NAME
                && !name.equals(".")
                && !name.equals("..")
                && name.chars().noneMatch(c -> c == '/' || c == '\\' || Character.isISOControl(c) || c > 0xD7FF);
    }
}
