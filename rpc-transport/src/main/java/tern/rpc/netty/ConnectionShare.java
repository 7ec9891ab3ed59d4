package tern.rpc.netty;

/**
 * Keeps some of a server's connections free for addresses with few connections. Without this rule, a few addresses could
 * hold all connections with a running call on each, and no other client could connect.
 *
 * <p>An address with more than {@link #FEW} connections gets a further connection only while at least a quarter as many
 * are free, and at least a thirty-second of all. One address alone therefore gets at most four fifths of all
 * connections, and of k addresses that want as many as possible, each gets four parts in 4k + 1.
 */
final class ConnectionShare {

    /** An address may have this number of connections as long as any is free. */
    static final int FEW = 16;

    private static final int FREE_PART = 4;
    private static final int FREE_PART_OF_ALL = 32;

    private ConnectionShare() {}

    /**
     * Returns whether the server has a free connection for an address.
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
