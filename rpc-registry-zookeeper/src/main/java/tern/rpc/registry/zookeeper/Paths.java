package tern.rpc.registry.zookeeper;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;

/**
 * The paths of the nodes in ZooKeeper.
 *
 * @param root the root node of the interface-level entries and of the metadata
 * @param applications the root node of the application-level entries
 */
record Paths(String root, String applications) {

    static Paths of(ZooKeeperSettings settings) {
        return new Paths(settings.root(), settings.applications());
    }

    /** Returns the path of the node whose children are the providers of an interface. */
    String providers(String interfaceName) {
        return root + "/" + URLEncoder.encode(interfaceName, StandardCharsets.UTF_8) + "/providers";
    }

    /** Returns the path of the node that lists the applications offering an interface. */
    String mapping(String interfaceName) {
        return root + "/mapping/" + interfaceName;
    }

    /** Returns the path of the node that contains the services of one revision of an application. */
    String metadata(String application, String revision) {
        return root + "/metadata/" + application + "/" + revision;
    }

    /** Returns the path of the node whose children are the processes of an application. */
    String processes(String application) {
        return applications + "/" + application;
    }

    /** Returns the path of the node that contains the rule with this key. */
    String rule(String key) {
        return root + "/config/dubbo/" + key;
    }

    /** A node to write, with its path and data. */
    record Node(String path, byte[] data, CreateMode mode) {}
}
