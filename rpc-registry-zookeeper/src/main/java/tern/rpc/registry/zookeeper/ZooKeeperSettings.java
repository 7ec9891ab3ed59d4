package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import tern.rpc.registry.RegistryUrl;

/**
 * The settings in a ZooKeeper ensemble's address.
 *
 * @param root the root node of the interface-level entries and of the metadata
 * @param applications the root node of the application-level entries
 */
record ZooKeeperSettings(RegistryUrl url, String root, String applications, int sessionMillis, int connectMillis) {

    /**
     * The maximum size of one answer in bytes. The list of about 2,500 providers of one interface exceeds ZooKeeper's
     * default of 1 MiB.
     */
    private static final String MAX_ANSWER = String.valueOf(64 * 1024 * 1024);

    private static final String GROUP = "group";
    private static final String DEFAULT_ROOT = "dubbo";
    private static final String DEFAULT_APPLICATIONS = "services";
    private static final int DEFAULT_SESSION = 30_000;
    private static final int DEFAULT_CONNECT = 3_000;
    private static final String TLS = "ssl";
    private static final String TLS_PREFIX = "ssl.";

    /**
     * Parses the settings.
     *
     * @throws IllegalArgumentException if a part of the address is invalid or missing
     */
    static ZooKeeperSettings of(RegistryUrl url) {
        if (url.hosts().isEmpty()) {
            throw new IllegalArgumentException(url + " names no host; expected zookeeper://host:2181");
        }
        if (!url.path().isEmpty() && !url.path().equals("/")) {
            throw new IllegalArgumentException(url + " has the path " + url.path() + "; set another root with ?group="
                    + url.path().substring(1));
        }
        return new ZooKeeperSettings(
                url,
                root(url.parameter(GROUP, DEFAULT_ROOT)),
                root(url.parameter("rootPath", url.parameter(GROUP, DEFAULT_APPLICATIONS))),
                millis(url, "session", DEFAULT_SESSION),
                millis(url, "timeout", DEFAULT_CONNECT));
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
        if (Boolean.parseBoolean(url.parameter(TLS, "false"))) {
            config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            config.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
            for (Map.Entry<String, String> parameter : url.parameters().entrySet()) {
                if (parameter.getKey().startsWith(TLS_PREFIX)) {
                    config.setProperty("zookeeper." + parameter.getKey(), parameter.getValue());
                }
            }
        }
        return config;
    }
}
