package tern.rpc.registry.zookeeper;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.ZKConfig;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.transport.Tls;

/**
 * The settings contained in the address of a ZooKeeper ensemble.
 *
 * @param root the root node of the interface-level entries and of the metadata
 * @param applications the root node of the application-level entries
 * @param stores the keys and trusted certificates of the TLS bundle that the address names; null if the address names
 *     no bundle
 */
record ZooKeeperSettings(
        RegistryUrl url,
        String root,
        String applications,
        int sessionMillis,
        int connectMillis,
        @Nullable TlsStores stores) {

    /**
     * The maximum size of one response in bytes. A list of about 2,500 providers of one interface already exceeds
     * ZooKeeper's default of 1 MiB.
     */
    static final String MAX_ANSWER = String.valueOf(64 * 1024 * 1024);

    private static final String GROUP = "group";
    private static final String DEFAULT_ROOT = "dubbo";
    private static final String DEFAULT_APPLICATIONS = "services";
    private static final int DEFAULT_SESSION = 30_000;
    private static final int DEFAULT_CONNECT = 3_000;
    private static final String TLS = "ssl";
    private static final String TLS_PREFIX = "ssl.";
    private static final String BUNDLE = "ssl.bundle";
    private static final int DEFAULT_PORT = 2_181;
    private static final String ROOT_PATH = "rootPath";
    private static final int MAX_PORT = 65_535;
    private static final int MAX_PORT_DIGITS = 5;
    private static final Pattern HOST =
            Pattern.compile("(?:\\[[0-9a-fA-F:.]+(?:%\\w+)?]|[\\w.-]+)(?::(?<port>[^:]*))?");
    private static final Pattern ROOT = Pattern.compile("/?(?!\\.{1,2}(?:/|$))[^/]+(?:/(?!\\.{1,2}(?:/|$))[^/]+)*");

    private static final Set<String> PARAMETERS = Set.of(
            GROUP,
            ROOT_PATH,
            "session",
            "timeout",
            TLS,
            BUNDLE,
            "ssl.ciphersuites",
            "ssl.clientAuth",
            "ssl.clientHostnameVerification",
            "ssl.context.supplier.class",
            "ssl.crl",
            "ssl.enabledProtocols",
            "ssl.handshakeDetectionTimeoutMillis",
            "ssl.hostnameVerification",
            "ssl.keyStore.location",
            "ssl.keyStore.password",
            "ssl.keyStore.passwordPath",
            "ssl.keyStore.type",
            "ssl.ocsp",
            "ssl.protocol",
            "ssl.sslProvider",
            "ssl.trustStore.location",
            "ssl.trustStore.password",
            "ssl.trustStore.passwordPath",
            "ssl.trustStore.type");

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
        url.hosts().forEach(host -> checkHost(url, host));
        checkParameters(url);
        String bundle = url.parameter(BUNDLE, "");
        ZooKeeperSettings settings = new ZooKeeperSettings(
                url,
                root(url.parameter(GROUP, DEFAULT_ROOT)),
                root(url.parameter(ROOT_PATH, url.parameter(GROUP, DEFAULT_APPLICATIONS))),
                millis(url, "session", DEFAULT_SESSION),
                millis(url, "timeout", DEFAULT_CONNECT),
                bundle.isEmpty() ? null : new TlsStores(bundles.apply(bundle)));
        settings.checkTls();
        return settings;
    }

    private static void checkHost(RegistryUrl url, String host) {
        Matcher form = HOST.matcher(host);
        if (!form.matches()) {
            throw new IllegalArgumentException(
                    url + " has the server '" + host + "'; expected host or host:port, separated by commas");
        }
        String port = form.group("port");
        if (port != null && (port.length() > MAX_PORT_DIGITS || !isPort(port))) {
            throw new IllegalArgumentException(
                    url + " has the server '" + host + "'; expected a port from 1 to " + MAX_PORT);
        }
    }

    private static boolean isPort(String text) {
        return text.matches("\\d+") && Integer.parseInt(text) > 0 && Integer.parseInt(text) <= MAX_PORT;
    }

    private static void checkParameters(RegistryUrl url) {
        url.checkParameters(PARAMETERS);
        for (String name : List.of(GROUP, ROOT_PATH)) {
            if (!ROOT.matcher(url.parameter(name, DEFAULT_ROOT)).matches()) {
                throw url.invalid(name, "the name of a node, such as " + DEFAULT_ROOT);
            }
        }
        if (!Set.of("true", "false").contains(url.parameter(TLS, "false"))) {
            throw url.invalid(TLS, "true or false");
        }
        if (url.parameters().containsKey(BUNDLE) && url.parameter(BUNDLE, "").isBlank()) {
            throw url.invalid(BUNDLE, "the name of a bundle of spring.ssl.bundle");
        }
        boolean isTls =
                url.parameter(TLS, "false").equals("true") || url.parameters().containsKey(BUNDLE);
        if (isTls && url.parameter(TLS, "true").equals("false")) {
            throw url.invalid(TLS, "true, or no value, together with " + BUNDLE);
        }
        for (String name : new TreeSet<>(url.parameters().keySet())) {
            if (name.startsWith(TLS_PREFIX) && !isTls) {
                throw url.invalid(name, "ssl=true in the same address, because " + name + " has no effect without TLS");
            }
        }
    }

    /**
     * Checks that the files named in the TLS settings can be read. If a file cannot be read, the ZooKeeper client would
     * only log a warning later.
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

    /**
     * Reads changed keys and trusted certificates. The next connection uses them.
     *
     * @throws UncheckedIOException if a file cannot be written
     * @throws IllegalArgumentException if the changed bundle cannot be used
     */
    void refreshTls() {
        if (stores != null) {
            stores.refresh();
        }
    }

    void close() {
        if (stores != null) {
            stores.close();
        }
    }

    /** Returns an object that checks the connection to the servers. */
    ConnectionCheck connectionCheck() {
        return new ConnectionCheck(servers(url), isTls(), clientConfig(), connectMillis);
    }

    /** Returns the addresses of the servers. Names are not looked up. */
    static List<InetSocketAddress> servers(RegistryUrl url) {
        return url.hosts().stream().map(ZooKeeperSettings::server).toList();
    }

    private static InetSocketAddress server(String host) {
        int colon = host.lastIndexOf(':');
        return colon < 0 || host.endsWith("]")
                ? InetSocketAddress.createUnresolved(host, DEFAULT_PORT)
                : InetSocketAddress.createUnresolved(
                        host.substring(0, colon), Integer.parseInt(host.substring(colon + 1)));
    }

    private static String root(String name) {
        return name.startsWith("/") ? name : "/" + name;
    }

    private static int millis(RegistryUrl url, String name, int otherwise) {
        String text = url.parameter(name, String.valueOf(otherwise));
        if (!text.matches("\\d{1,9}") || Integer.parseInt(text) == 0) {
            throw url.invalid(name, "a number of milliseconds that is greater than 0");
        }
        return Integer.parseInt(text);
    }

    CuratorFramework newClient(ZookeeperFactory sessions) {
        CuratorFrameworkFactory.Builder client = CuratorFrameworkFactory.builder()
                .connectString(String.join(",", url.hosts()))
                .sessionTimeoutMs(sessionMillis)
                .connectionTimeoutMs(connectMillis)
                .ensembleTracker(false)
                .retryPolicy(new RetryOneTime(1))
                .zookeeperFactory(sessions)
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
