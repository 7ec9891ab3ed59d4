package tern.rpc.spring.autoconfigure.insight;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.context.event.ApplicationStartingEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import tern.rpc.settings.RpcStartException;

/**
 * Stops an application that runs on an older Spring Boot version before it creates beans. Creating the beans would fail
 * because classes are missing. This class uses only classes that also exist in Spring Boot 3. The RPC starter depends
 * on this starter and uses the same check.
 */
final class BootVersion implements ApplicationListener<ApplicationStartingEvent>, Ordered {

    private static final int OLDEST = 4;

    @Override
    public void onApplicationEvent(ApplicationStartingEvent event) {
        check(SpringBootVersion.getVersion());
    }

    /**
     * Checks the version of Spring Boot.
     *
     * @param found the version; null if Spring Boot does not report one
     * @throws RpcStartException if Spring Boot is too old
     */
    static void check(@Nullable String found) {
        String major = found == null ? "" : found.replaceAll("\\D.*", "");
        if (found != null && !major.isEmpty() && Integer.parseInt(major) < OLDEST) {
            throw new RpcStartException(
                    "Tern RPC needs Spring Boot 4.x; found " + found,
                    "Raise the version of spring-boot-starter-parent or of spring-boot-dependencies to 4.x.",
                    null);
        }
    }

    /** Runs this listener before all other listeners. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
