package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The class patterns from the configuration. A pattern is an exact class name, {@code com.acme.order.*} for the classes
 * of one package, or {@code com.acme.**} for the classes of a package and its subpackages. Immutable.
 */
final class ClassPatterns {

    private static final Logger LOG = LoggerFactory.getLogger(ClassPatterns.class);

    /** The property that allows additional classes. */
    static final String PROPERTY = "rpc.limits.allowed-classes";

    private static final Pattern NAME = Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*");

    private final Set<String> classes = new HashSet<>();
    private final Set<String> packages = new HashSet<>();
    private final List<String> packageTrees = new ArrayList<>();

    ClassPatterns(Iterable<String> entries) {
        for (String entry : entries) {
            add(entry.strip());
        }
    }

    private void add(String entry) {
        if (entry.endsWith("*")) {
            warnOfAttacks(entry);
        }
        if (entry.endsWith(".**")) {
            packageTrees.add(checked(entry, entry.substring(0, entry.length() - 3)) + '.');
        } else if (entry.endsWith(".*")) {
            packages.add(checked(entry, entry.substring(0, entry.length() - 2)));
        } else {
            classes.add(checked(entry, entry));
        }
    }

    /**
     * Warns about a package that contains classes known from attacks. A single class in the configuration causes no
     * warning, because it may be a data class.
     */
    private static void warnOfAttacks(String entry) {
        String name = entry.replaceFirst("[.*]+$", "");
        if (GadgetNames.areIn(name, entry.endsWith(".**"))) {
            LOG.warn(
                    "{} contains {}, so messages may contain classes that attacks use. List only packages with data of"
                            + " your own, or single classes",
                    PROPERTY,
                    entry);
        }
    }

    private static String checked(String entry, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(PROPERTY + " has the entry \"" + entry
                    + "\"; expected a class name, or a package name that ends in .* or .**");
        }
        return name;
    }

    boolean matches(String name) {
        return classes.contains(name)
                || packages.contains(ClassOrigin.packageOf(name))
                || packageTrees.stream().anyMatch(name::startsWith);
    }

    /** Returns the packages in the configuration, and the packages of the classes in the configuration. */
    Set<String> packages() {
        Set<String> all = new HashSet<>(packages);
        packageTrees.forEach(tree -> all.add(tree.substring(0, tree.length() - 1)));
        classes.forEach(name -> all.add(ClassOrigin.packageOf(name)));
        return all;
    }
}
