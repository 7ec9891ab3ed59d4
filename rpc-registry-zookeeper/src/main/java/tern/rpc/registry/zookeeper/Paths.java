package tern.rpc.registry.zookeeper;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;

/** The paths of entries in ZooKeeper. */
record Paths(String root, String applications) {

    static Paths of(ZooKeeperSettings settings) {
        return new Paths(settings.root(), settings.applications());
    }

    /** The path of the providers of an interface. Each provider is a child. */
    String providers(String interfaceName) {
        return root + "/" + URLEncoder.encode(interfaceName, StandardCharsets.UTF_8) + "/providers";
    }

    /** The path of the names of applications that offer an interface. */
    String mapping(String interfaceName) {
        return root + "/mapping/" + interfaceName;
    }

    /** The path of the services of an application's revision. */
    String metadata(String application, String revision) {
        return root + "/metadata/" + application + "/" + revision;
    }

    /** The path of the processes of an application. Each process is a child. */
    String processes(String application) {
        return applications + "/" + application;
    }

    /** The path of a rule with this key. */
    String rule(String key) {
        return root + "/config/dubbo/" + key;
    }

    /** An entry with its path. */
    record Node(String path, byte[] data, CreateMode mode) {}
}
