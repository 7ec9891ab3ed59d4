package tern.rpc.registry.zookeeper;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.ZKConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.transport.Tls;

/**
 * The settings contained in the address of a ZooKeeper ensemble.
 *
 * @param root the root node of the interface-level entries and of the metadata
 * @param applications the root node of the application-level entries
 * @param stores the keys and trusted certificates of the bundle that the address names; null if it does not name one
 */
record ZooKeeperSettings(
        RegistryUrl url,
        String root,
        String applications,
        int sessionMillis,
        int connectMillis,
        @Nullable TlsStores stores) {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperSettings.class);

    /**
     * The maximum size of one response in bytes. A list of about 2,500 providers of one interface already exceeds
     * ZooKeeper's default of 1 MiB.
     */
    private static final String MAX_ANSWER = String.valueOf(64 * 1024 * 1024);

    private static final String GROUP = "group";
    private static final String DEFAULT_ROOT = "dubbo";
    private static final String DEFAULT_APPLICATIONS = "services";
    private static final int DEFAULT_SESSION = 30_000;
    private static final int DEFAULT_CONNECT = 3_000;
    private static final String TLS = "ssl";
    private static final String TLS_PREFIX = "ssl.";
    private static final String BUNDLE = "ssl.bundle";
    private static final int DEFAULT_PORT = 2_181;

    /**
     * Parses the settings.
     *
     * @param bundles returns the TLS settings of a bundle by its name
     * @throws IllegalArgumentException if a part of the address is invalid or missing
     */
    static ZooKeeperSettings of(RegistryUrl url, Function<String, Supplier<Tls>> bundles) {
        if (url.hosts().isEmpty()) {
            throw new IllegalArgumentException(url + " names no host; expected zookeeper://host:2181");
        }
        if (!url.path().isEmpty() && !url.path().equals("/")) {
            throw new IllegalArgumentException(url + " has the path " + url.path() + "; set another root with ?group="
                    + url.path().substring(1));
        }
        String bundle = url.parameter(BUNDLE, "");
        ZooKeeperSettings settings = new ZooKeeperSettings(
                url,
                root(url.parameter(GROUP, DEFAULT_ROOT)),
                root(url.parameter("rootPath", url.parameter(GROUP, DEFAULT_APPLICATIONS))),
                millis(url, "session", DEFAULT_SESSION),
                millis(url, "timeout", DEFAULT_CONNECT),
                bundle.isEmpty() ? null : new TlsStores(bundles.apply(bundle)));
        settings.checkTls();
        return settings;
    }

    /**
     * Checks that the files in the TLS settings can be read, because otherwise the client would merely log a warning
     * later.
     */
    private void checkTls() {
        if (isTls()) {
            try (ClientX509Util util = new ClientX509Util()) {
                util.createSSLContext(clientConfig());
            } catch (X509Exception e) {
                throw new IllegalArgumentException(url + " has TLS settings that cannot be used: " + reason(e), e);
            }
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }

    private boolean isTls() {
        return stores != null || Boolean.parseBoolean(url.parameter(TLS, "false"));
    }

    /** Reads changed keys and trusted certificates. They apply to the next connection. */
    void refreshTls() {
        if (stores == null) {
            return;
        }
        try {
            stores.refresh();
        } catch (UncheckedIOException | IllegalArgumentException e) {
            LOG.error("Changed keys or trusted certificates for {} cannot be used", url, e);
        }
    }

    void close() {
        if (stores != null) {
            stores.close();
        }
    }

    /** Returns a check of the connection to the first server. */
    ConnectionCheck connectionCheck() {
        return new ConnectionCheck(firstServer(url), isTls(), clientConfig(), connectMillis);
    }

    static InetSocketAddress firstServer(RegistryUrl url) {
        String first = url.hosts().get(0);
        int colon = first.lastIndexOf(':');
        return colon < 0 || first.endsWith("]")
                ? new InetSocketAddress(first, DEFAULT_PORT)
                : new InetSocketAddress(first.substring(0, colon), port(first.substring(colon + 1)));
    }

    private static int port(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return DEFAULT_PORT; // ZooKeeper later rejects the invalid address with its own message.
        }
    }

    private static String root(String name) {
        return name.startsWith("/") ? name : "/" + name;
    }

    private static int millis(RegistryUrl url, String name, int otherwise) {
        String text = url.parameter(name, String.valueOf(otherwise));
        try {
            int millis = Integer.parseInt(text);
            if (millis > 0) {
                return millis;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " of " + url + " is no number of milliseconds", e);
        }
        throw new IllegalArgumentException(name + " of " + url + " is " + text + "; expected more than 0 milliseconds");
    }

    CuratorFramework newClient() {
        CuratorFrameworkFactory.Builder client = CuratorFrameworkFactory.builder()
                .connectString(String.join(",", url.hosts()))
                .sessionTimeoutMs(sessionMillis)
                .connectionTimeoutMs(connectMillis)
                .ensembleTracker(false)
                .retryPolicy(new RetryOneTime(1))
                .zkClientConfig(clientConfig());
        if (url.hasCredentials()) {
            byte[] digest = (url.user() + ":" + url.password()).getBytes(StandardCharsets.UTF_8);
            client.authorization("digest", digest);
        }
        return client.build();
    }

    /**
     * Returns the access control list for new nodes. If the address contains credentials, only their owner may access
     * the entries, as in Dubbo.
     */
    java.util.List<org.apache.zookeeper.data.ACL> acl() {
        return url.hasCredentials() ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE;
    }

    private ZKClientConfig clientConfig() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, MAX_ANSWER);
        if (isTls()) {
            config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            config.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
            for (Map.Entry<String, String> parameter : url.parameters().entrySet()) {
                if (parameter.getKey().startsWith(TLS_PREFIX)
                        && !parameter.getKey().equals(BUNDLE)) {
                    config.setProperty("zookeeper." + parameter.getKey(), parameter.getValue());
                }
            }
            if (stores != null) {
                stores.applyTo(config);
            }
        }
        return config;
    }
}
