package tern.rpc.serialization.hessian;

import java.util.List;

/**
 * The names of gadget classes, which are known to run harmful code when they are deserialized. No error message
 * suggests allowing these classes, and they are not read even if {@code rpc.limits.audit-classes} is set. If a
 * configured package contains such a class, a warning is logged. Immutable.
 */
final class GadgetNames {

    /** Library packages whose classes are never sent as data but have been used in deserialization attacks. */
    private static final List<String> PREFIXES = List.of(
            "bsh.",
            "ch.qos.logback.",
            "clojure.",
            "com.alibaba.druid.",
            "com.caucho.",
            "com.mchange.",
            "com.rometools.",
            "com.sun.",
            "com.zaxxer.hikari.",
            "groovy.",
            "java.",
            "javassist.",
            "javax.",
            "jdk.",
            "net.bytebuddy.",
            "org.aopalliance.",
            "org.apache.",
            "org.aspectj.",
            "org.codehaus.groovy.",
            "org.eclipse.jetty.",
            "org.h2.",
            "org.hibernate.",
            "org.jboss.",
            "org.mozilla.javascript.",
            "org.python.",
            "org.quartz.",
            "org.springframework.",
            "org.yaml.snakeyaml.",
            "sun.");

    private GadgetNames() {}

    static boolean contains(String name) {
        return PREFIXES.stream().anyMatch(name::startsWith);
    }

    /**
     * Returns whether the package contains known gadget classes. If {@code tree} is true, its subpackages are also
     * searched.
     */
    static boolean areIn(String packageName, boolean tree) {
        String prefix = packageName + '.';
        return contains(prefix) || (tree && PREFIXES.stream().anyMatch(known -> known.startsWith(prefix)));
    }
}
