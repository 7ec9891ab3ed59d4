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
 * Stops the startup of an application that lacks Java modules that Tern needs, before beans are created. A Java runtime
 * that {@code jlink} created may lack modules. If the application is on the module path, Java loads only the modules
 * that it requires. Without this check, the application would fail with a {@code NoClassDefFoundError}, which does not
 * name the module. The RPC starter depends on this starter and uses the same check.
 */
final class JavaModules implements ApplicationListener<ApplicationStartingEvent>, Ordered {

    private static final String MANAGEMENT = "com.sun.management.ThreadMXBean";
    private static final String SQL_DATE = "java.sql.Date";
    private static final String HESSIAN = "tern.rpc.serialization.hessian.HessianSerializer";

    @Override
    public void onApplicationEvent(ApplicationStartingEvent event) {
        // not in a native image, which finds only the classes that are registered by name
        if (!NativeDetector.inNativeImage()) {
            check(
                    name -> ClassUtils.isPresent(name, null),
                    module -> ModuleFinder.ofSystem().find(module).isPresent());
        }
    }

    /**
     * Checks the modules.
     *
     * @param isPresent returns whether a class exists
     * @param isInRuntime returns whether the Java runtime contains a module. If the application is on the module path,
     *     Java loads such a module only if one of the application's modules requires it.
     * @throws RpcStartException if a module is missing; the message names all missing modules
     */
    static void check(Predicate<String> isPresent, Predicate<String> isInRuntime) {
        List<String> missing = new ArrayList<>();
        if (!isPresent.test(MANAGEMENT)) {
            missing.add("jdk.management");
        }
        if (isPresent.test(HESSIAN) && !isPresent.test(SQL_DATE)) {
            missing.add("java.sql"); // tern-rpc-hessian needs it to send java.sql.Date and related types
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
