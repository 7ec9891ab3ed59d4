package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Records which publication of this process owns each entry in one registry. While the registry is unreachable, a
 * publication cannot remove its entries, and removes them later. In the meantime, a newer publication might have
 * written entries at the same paths. The newer entries must not be removed. Confined to the session's thread.
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
