package tern.rpc;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds dependency cycles within one package: groups of files that all depend on each other, directly or indirectly
 * (strongly connected components).
 */
public final class Circles {

    private final Map<String, Set<String>> known = new TreeMap<>();

    private Circles() {}

    /** Returns all cycles of two or more files. Each cycle is a set of names of top-level classes. */
    public static List<Set<String>> in(JavaClasses classes) {
        Circles circles = new Circles();
        for (JavaClass type : classes) {
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass other = dependency.getTargetClass();
                if (other.getPackageName().equals(type.getPackageName())) {
                    circles.add(file(type), file(other));
                }
            }
        }
        return circles.find();
    }

    private static String file(JavaClass type) {
        JavaClass component = type.getBaseComponentType();
        String name = component.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private void add(String from, String to) {
        if (!from.equals(to)) {
            known.computeIfAbsent(from, any -> new TreeSet<>()).add(to);
        }
    }

    private List<Set<String>> find() {
        Map<String, Set<String>> reached = new HashMap<>();
        known.keySet().forEach(file -> reached.put(file, reachedFrom(file)));
        List<Set<String>> found = new ArrayList<>();
        Set<String> placed = new HashSet<>();
        for (String file : known.keySet()) {
            if (placed.add(file)) {
                Set<String> circle = new TreeSet<>(Set.of(file));
                for (String other : reached.getOrDefault(file, Set.of())) {
                    if (reached.getOrDefault(other, Set.of()).contains(file)) {
                        circle.add(other);
                    }
                }
                placed.addAll(circle);
                if (circle.size() > 1) {
                    found.add(circle);
                }
            }
        }
        return found;
    }

    private Set<String> reachedFrom(String start) {
        Set<String> seen = new HashSet<>();
        Deque<String> left = new ArrayDeque<>(known.get(start));
        while (!left.isEmpty()) {
            String file = left.pop();
            if (seen.add(file)) {
                left.addAll(known.getOrDefault(file, Set.of()));
            }
        }
        return seen;
    }
}
