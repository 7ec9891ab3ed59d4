package tern.rpc.spring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns about a Netty version with known vulnerabilities. An application's dependency management can select such a
 * version.
 */
final class NettyVersion {

    /** The first version that contains the security fixes of 2026. */
    static final String OLDEST = "4.2.17.Final";

    private static final Logger LOG = LoggerFactory.getLogger(NettyVersion.class);
    private static final String RESOURCE = "META-INF/io.netty.versions.properties";

    private NettyVersion() {}

    static void check(ClassLoader loader) {
        String warning = warning(onClassPath(loader));
        if (warning != null) {
            LOG.warn(warning);
        }
    }

    /** Returns the version that Netty reports; null if Netty reports no version. */
    static @Nullable String onClassPath(ClassLoader loader) {
        Properties versions = new Properties();
        try (InputStream resource = loader.getResourceAsStream(RESOURCE)) {
            if (resource != null) {
                versions.load(resource);
            }
        } catch (IOException e) {
            LOG.debug("{} cannot be read", RESOURCE, e);
        }
        return versions.stringPropertyNames().stream()
                .filter(name -> name.endsWith(".version"))
                .map(versions::getProperty)
                .findFirst()
                .orElse(null);
    }

    static @Nullable String warning(@Nullable String found) {
        if (found == null || compare(found, OLDEST) >= 0) {
            return null;
        }
        return "Netty " + found + " is on the class path, which lacks security fixes; use " + OLDEST
                + " or later: set <netty.version> if spring-boot-starter-parent is the parent, or else import"
                + " io.netty:netty-bom:" + OLDEST + " before other BOMs";
    }

    private static int compare(String one, String other) {
        String[] left = one.split("\\.");
        String[] right = other.split("\\.");
        for (int i = 0; i < 3; i++) {
            int difference = Integer.compare(number(left, i), number(right, i));
            if (difference != 0) {
                return difference;
            }
        }
        return 0;
    }

    /**
     * Returns one number of the version. A snapshot version has the same numbers as its release.
     *
     * @param index the number's index, starting at 0
     */
    private static int number(String[] parts, int index) {
        String digits = index < parts.length ? parts[index].replaceAll("\\D.*", "") : "";
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }
}
