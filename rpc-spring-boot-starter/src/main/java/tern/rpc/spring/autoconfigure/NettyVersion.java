package tern.rpc.spring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.settings.RpcStartException;

/**
 * Stops an application whose Netty is too old for Tern, and warns about a version with known vulnerabilities. An
 * application's dependency management can select such a version, for all jars of Netty or for some of them. Without
 * this check, the application would fail with a {@code NoClassDefFoundError} for a class of Netty.
 */
final class NettyVersion {

    /** The first version that contains the security fixes of 2026. */
    static final String OLDEST = "4.2.17.Final";

    private static final Logger LOG = LoggerFactory.getLogger(NettyVersion.class);
    private static final String RESOURCE = "META-INF/io.netty.versions.properties";
    private static final String VERSION = ".version";

    /** The first version with the classes that Tern uses. */
    private static final String NEEDED = "4.2.0";

    /** The jars of Netty that Tern uses, each with one of its classes. */
    private static final Map<String, String> JARS = Map.of(
            "netty-common", "io/netty/util/concurrent/EventExecutor.class",
            "netty-buffer", "io/netty/buffer/ByteBuf.class",
            "netty-resolver", "io/netty/resolver/NameResolver.class",
            "netty-transport", "io/netty/channel/Channel.class",
            "netty-codec-base", "io/netty/handler/codec/ByteToMessageDecoder.class",
            "netty-codec-http", "io/netty/handler/codec/http/HttpRequest.class",
            "netty-codec-http2", "io/netty/handler/codec/http2/Http2Connection.class",
            "netty-handler", "io/netty/handler/ssl/SslHandler.class");

    private static final String REMEDY = "use " + OLDEST
            + " or later: set <netty.version> if spring-boot-starter-parent is the parent, or else import"
            + " io.netty:netty-bom:" + OLDEST + " before other BOMs";

    private NettyVersion() {}

    static void check(ClassLoader loader) {
        Map<String, String> versions = onClassPath(loader);
        checkJars(versions);
        String warning =
                warning(versions.values().stream().min(NettyVersion::compare).orElse(null));
        if (warning != null) {
            LOG.warn(warning);
        }
    }

    /**
     * Checks the versions of the jars.
     *
     * @param versions the versions by the names of the jars
     * @throws RpcStartException if Tern cannot work with one of the jars
     */
    static void checkJars(Map<String, String> versions) {
        String tooOld = versions.entrySet().stream()
                .filter(each -> compare(each.getValue(), NEEDED) < 0)
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "));
        if (!tooOld.isEmpty()) {
            throw new RpcStartException(
                    "Tern RPC needs Netty 4.2; found " + tooOld, "For all jars of Netty, " + REMEDY + ".", null);
        }
    }

    /**
     * Returns the versions that the jars of Netty report, by the names of the jars. The result contains only jars from
     * which Java loads Netty's classes, because a jar with a copy of Netty in another package can report a version,
     * too. A jar that contains all classes of an application has the version file of only one library, so its versions
     * are unknown.
     */
    static Map<String, String> onClassPath(ClassLoader loader) {
        Map<String, Set<String>> jarsByPlace = new HashMap<>();
        JARS.forEach((jar, type) -> {
            URL found = loader.getResource(type);
            if (found != null) {
                jarsByPlace
                        .computeIfAbsent(place(found, type), unseen -> new HashSet<>())
                        .add(jar);
            }
        });
        Map<String, String> versions = new TreeMap<>();
        try {
            for (URL resource : Collections.list(loader.getResources(RESOURCE))) {
                Set<String> jars = jarsByPlace.getOrDefault(place(resource, RESOURCE), Set.of());
                if (jars.size() == 1) {
                    String jar = jars.iterator().next();
                    String version = properties(resource).getProperty(jar + VERSION);
                    if (version != null) {
                        versions.put(jar, version);
                    }
                }
            }
        } catch (IOException e) {
            LOG.debug("{} cannot be read", RESOURCE, e);
        }
        return versions;
    }

    /** Returns the jar or the folder that contains a resource. */
    private static String place(URL resource, String name) {
        String url = resource.toString();
        return url.substring(0, url.length() - name.length());
    }

    private static Properties properties(URL resource) throws IOException {
        Properties properties = new Properties();
        try (InputStream in = resource.openStream()) {
            properties.load(in);
        }
        return properties;
    }

    static @Nullable String warning(@Nullable String found) {
        if (found == null || compare(found, OLDEST) >= 0) {
            return null;
        }
        return "Netty " + found + " is on the class path, which lacks security fixes; " + REMEDY;
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
