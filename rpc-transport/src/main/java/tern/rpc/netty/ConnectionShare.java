package tern.rpc.netty;

/**
 * Keeps some of the permitted connections to a server free for addresses with few connections. Without this rule, a few
 * addresses could occupy all permitted connections and keep a call running on each, and no other client could connect.
 *
 * <p>An address with more than {@link #FEW} connections gets another connection only while the number of free
 * connections is at least a quarter of the address's own connections, and at least 1/32 of the limit. One address alone
 * therefore gets at most four fifths of the permitted connections. If each of k addresses opens as many connections as
 * it can, each gets 4/(4k + 1) of the permitted connections.
 */
final class ConnectionShare {

    /**
     * The number of connections that an address may always open, unless the server has reached its limit on
     * connections.
     */
    static final int FEW = 16;

    private static final int FREE_PART = 4;
    private static final int FREE_PART_OF_ALL = 32;

    private ConnectionShare() {}

    /**
     * Returns whether the server admits a new connection from an address.
     *
     * @param ofNetwork the number of connections from the address, including the new connection
     * @param open the number of connections from all addresses, without the new connection
     * @param max the limit on connections
     */
    static boolean hasFree(int ofNetwork, int open, int max) {
        int free = max - open;
        if (free <= 0 || ofNetwork <= FEW) {
            return free > 0;
        }
        return (long) free * FREE_PART >= ofNetwork && free >= max / FREE_PART_OF_ALL;
    }
}
