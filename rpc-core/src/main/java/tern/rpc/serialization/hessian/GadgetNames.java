package tern.rpc.serialization.hessian;

import java.util.List;

/** Classes that are known to do harm when they are read: the last layer, behind every list of what may be. Immutable. */
final class GadgetNames {

    /** Libraries whose data classes nobody sends, while their others were used in attacks. */
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
}
