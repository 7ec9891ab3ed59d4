package tern.rpc.spring.autoconfigure.insight;

import java.lang.module.ModuleFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.springframework.boot.context.event.ApplicationStartingEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NativeDetector;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;

/**
 * Stops an application without the modules of Java that Tern needs, before it creates beans. The Java runtime lacks the
 * modules if it comes from {@code jlink}. Java also leaves out modules if the application is on the module path.
 * Without this check, the application would fail with a {@code NoClassDefFoundError}, which does not name the module.
 * The RPC starter depends on this starter and uses the same check.
 */
final class JavaModules implements ApplicationListener<ApplicationStartingEvent>, Ordered {

    private static final String MANAGEMENT = "com.sun.management.ThreadMXBean";
    private static final String SQL_DATE = "java.sql.Date";
    private static final String HESSIAN = "tern.rpc.serialization.hessian.HessianSerializer";

    @Override
    public void onApplicationEvent(ApplicationStartingEvent event) {
        if (!NativeDetector.inNativeImage()) { // A native image finds only the classes that are registered by name.
            check(
                    name -> ClassUtils.isPresent(name, null),
                    module -> ModuleFinder.ofSystem().find(module).isPresent());
        }
    }

    /**
     * Checks the modules.
     *
     * @param isPresent returns whether a class exists
     * @param isInRuntime returns whether the Java runtime contains a module. Java does not load a module of the runtime
     *     if the application is on the module path and none of its modules requires this module.
     * @throws RpcStartException if a module is missing; the message names all missing modules
     */
    static void check(Predicate<String> isPresent, Predicate<String> isInRuntime) {
        List<String> missing = new ArrayList<>();
        if (!isPresent.test(MANAGEMENT)) {
            missing.add("jdk.management");
        }
        if (isPresent.test(HESSIAN) && !isPresent.test(SQL_DATE)) {
            missing.add("java.sql"); // Dates of SQL can be sent, so tern-rpc-hessian refers to their classes.
        }
        if (missing.stream().anyMatch(isInRuntime)) {
            throw failure(
                    "This application is on the module path, and its modules do not require modules that Tern needs: "
                            + String.join(", ", missing),
                    "Add requires " + String.join("; and requires ", missing) + "; to module-info.java, or start Java"
                            + " with --add-modules " + String.join(",", missing) + ".");
        }
        if (!missing.isEmpty()) {
            throw failure(
                    "The Java runtime of this application lacks modules that Tern needs: " + String.join(", ", missing),
                    "If jlink creates the runtime, add " + String.join(",", missing)
                            + " to its option --add-modules. docs/modules.md lists all modules.");
        }
    }

    /** The message contains the action, because Spring Boot does not analyze a failure this early. */
    private static RpcStartException failure(String problem, String action) {
        return new RpcStartException(problem + ". " + action, action, null);
    }

    /** Runs this listener after the check of Spring Boot's version. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE + 1;
    }
}
