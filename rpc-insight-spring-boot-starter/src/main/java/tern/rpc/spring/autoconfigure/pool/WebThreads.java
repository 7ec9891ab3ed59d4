package tern.rpc.spring.autoconfigure.pool;

import java.util.Objects;
import java.util.stream.Stream;

/** The number of threads with which a web server of Boot calls the application. */
final class WebThreads {

    /** The default of Tomcat, Jetty and {@code rpc.server.threads}. */
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
