package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.ClassUtils;

/**
 * Switches Log4j 2 to asynchronous logging by making Tern's configuration file the default of {@code logging.config}.
 * Does nothing if the application uses another logging system, configures Log4j 2 itself, or has no LMAX Disruptor on
 * the class path. The size of the ring buffer and the policy for a full ring buffer are system properties, because
 * Log4j reads them only from system properties.
 */
public final class AsyncLogging implements EnvironmentPostProcessor {

    static final String PROPERTY = "rpc.logging.async";
    static final String CONFIGURATION = "classpath:tern/rpc/spring/log4j2-async.xml";
    static final String DISRUPTOR = "com.lmax.disruptor.dsl.Disruptor";

    static final String POLICY = "log4j2.asyncQueueFullPolicy";
    static final String RING = "log4j2.asyncLoggerConfigRingBufferSize";
    static final int RING_SIZE = 64 * 1_024; // the capacity of the ring buffer in log lines; see docs/limits.md

    static final String LOCATION = "logging.config";
    private static final List<String> EXTENSIONS = List.of("xml", "properties", "yaml", "yml", "json", "jsn");
    private static final List<String> NAMES = List.of("log4j2", "log4j2-test", "log4j2-spring", "log4j2-test-spring");

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        ClassLoader loader = application.getClassLoader();
        if (isLog4j(loader) && isWanted(environment, loader)) {
            environment
                    .getPropertySources()
                    .addLast(new MapPropertySource("rpc.logging", Map.of(LOCATION, CONFIGURATION)));
            setUnlessThere(POLICY, DropWhenFull.class.getName());
            setUnlessThere(RING, Integer.toString(RING_SIZE));
        }
    }

    private static boolean isLog4j(ClassLoader loader) {
        return !LoggingSystem.NONE.equals(System.getProperty(LoggingSystem.SYSTEM_PROPERTY))
                && LoggingSystem.get(loader).getClass().getSimpleName().equals("Log4J2LoggingSystem");
    }

    /** Returns whether asynchronous logging is possible and not switched off. */
    static boolean isWanted(Environment environment, ClassLoader loader) {
        return environment.getProperty(PROPERTY, boolean.class, true)
                && ClassUtils.isPresent(DISRUPTOR, loader)
                && !isConfigured(environment.getProperty(LOCATION) != null, loader);
    }

    /**
     * Returns whether the application configures Log4j 2 itself.
     *
     * @param hasLocation whether the property {@value #LOCATION} is set
     */
    static boolean isConfigured(boolean hasLocation, ClassLoader loader) {
        return hasLocation
                || System.getProperty("log4j2.configurationFile") != null
                || System.getProperty("log4j.configurationFile") != null
                || hasOwnConfiguration(loader);
    }

    private static boolean hasOwnConfiguration(ClassLoader loader) {
        return NAMES.stream()
                .flatMap(name -> EXTENSIONS.stream().map(extension -> name + "." + extension))
                .anyMatch(file -> loader.getResource(file) != null);
    }

    private static void setUnlessThere(String property, String value) {
        String old = property.replace("log4j2.async", "log4j2.Async");
        if (Stream.of(property, old).allMatch(name -> System.getProperty(name) == null)) {
            System.setProperty(property, value);
        }
    }
}
