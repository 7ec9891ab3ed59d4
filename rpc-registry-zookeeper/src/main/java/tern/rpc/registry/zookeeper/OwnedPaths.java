package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The publications of this process to which the entries in one registry belong. The removal of a publication may be
 * delayed until the registry is reachable again. It must not remove the entries of a later publication at the same
 * paths. Confined to the session's thread.
 */
final class OwnedPaths {

    private final Map<String, ZooKeeperPublication> owners = new HashMap<>();

    /** Makes the publication the owner of the nodes, until a later publication claims them. */
    void claim(List<Paths.Node> nodes, ZooKeeperPublication owner) {
        nodes.forEach(node -> owners.put(node.path(), owner));
    }

    boolean isOwnedBy(Paths.Node node, ZooKeeperPublication publication) {
        return owners.get(node.path()) == publication;
    }
}
