package tern.rpc.registry.zookeeper;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;

/** The places of entries in ZooKeeper. */
record Paths(String root, String applications) {

    static Paths of(ZooKeeperSettings settings) {
        return new Paths(settings.root(), settings.applications());
    }

    /** The providers of an interface, one child for each. */
    String providers(String interfaceName) {
        return root + "/" + URLEncoder.encode(interfaceName, StandardCharsets.UTF_8) + "/providers";
    }

    /** The names of the applications that offer an interface. */
    String mapping(String interfaceName) {
        return root + "/mapping/" + interfaceName;
    }

    /** The services of a revision of an application. */
    String metadata(String application, String revision) {
        return root + "/metadata/" + application + "/" + revision;
    }

    /** The processes of an application, one child for each. */
    String processes(String application) {
        return applications + "/" + application;
    }

    /** A rule by its key. */
    String rule(String key) {
        return root + "/config/dubbo/" + key;
    }

    /** An entry with its place. */
    record Node(String path, byte[] data, CreateMode mode) {}
}
