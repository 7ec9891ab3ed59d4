package tern.rpc.console;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Creates address objects for the browsers that use the console. */
final class ConsoleAddresses {

    private ConsoleAddresses() {}

    /**
     * Creates an address without a name lookup.
     *
     * @param ip an IP address, or an unresolved name that a proxy sent; null if unknown
     */
    static InetSocketAddress of(@Nullable String ip, int port) {
        int known = port < 0 || port > 0xFFFF ? 0 : port;
        if (ip == null || !ip.matches("[0-9.]+|[0-9a-fA-F:.%]*:[0-9a-zA-Z:.%]*")) {
            return InetSocketAddress.createUnresolved(ip == null ? "unknown" : ip, known);
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(ip), known);
        } catch (UnknownHostException e) {
            return InetSocketAddress.createUnresolved(ip, known);
        }
    }
}
