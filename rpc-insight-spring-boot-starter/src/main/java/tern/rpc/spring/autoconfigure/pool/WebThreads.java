package tern.rpc.spring.autoconfigure.pool;

import java.util.Objects;
import java.util.stream.Stream;

/** Determines how many threads of Boot's web server call the application. */
final class WebThreads {

    /** The default number of threads in Tomcat and Jetty, and the default of {@code rpc.server.threads}. */
    private static final int DEFAULT = 200;

    private WebThreads() {}

    static int configured(SettingOrigins origins) {
        return Stream.of("server.tomcat.threads.max", "server.jetty.threads.max")
                .map(property -> origins.value(property, Integer.class))
                .filter(Objects::nonNull)
                .filter(threads -> threads > 0)
                .findFirst()
                .orElse(DEFAULT);
    }
}
