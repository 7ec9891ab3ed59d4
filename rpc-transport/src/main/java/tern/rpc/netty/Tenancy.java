package tern.rpc.netty;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;

/**
 * Decides to which tenant the calls of a connection count: to the subject of its certificate; else to its address, if
 * there are connections from several addresses, which may be proxies for many callers; else to the connection alone
 * (docs/decisions/0019). Confined to the event loop.
 */
final class Tenancy {

    /**
     * The common prefix of the addresses of one IPv6 network, in bytes. The owner of one address has all addresses with
     * this prefix.
     */
    private static final int NETWORK_BYTES = 8;

    /** The tenants of all connections of a server. Thread-safe. */
    static final class Of {
        private final Tenants<InetAddress> networks = new Tenants<>(InetAddress::getHostAddress);
        private final Tenants<String> names = new Tenants<>(name -> name);

        /** The number of tenants without connections whose methods still run. For tests. */
        int remembered() {
            return networks.remembered() + names.remembered();
        }
    }

    private final Of all;
    private final Object connection;
    private final InetAddress network;
    private final Share ofNetwork;
    private @Nullable Share ofConnection; // created for the first call that needs it
    private @Nullable Share ofName;
    private @Nullable String name;

    /** @param connection its text names the connection */
    Tenancy(Of all, InetAddress host, Object connection) {
        this.all = all;
        this.connection = connection;
        this.network = network(host);
        this.ofNetwork = all.networks.join(network);
    }

    static InetAddress network(InetAddress host) {
        if (!(host instanceof Inet6Address)) {
            return host;
        }
        byte[] bytes = host.getAddress();
        Arrays.fill(bytes, NETWORK_BYTES, bytes.length, (byte) 0);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // unreachable: sixteen bytes are always an address
        }
    }

    InetAddress network() {
        return network;
    }

    /** The handshake has shown the subject of the certificate. Called at most once. */
    void named(Principal principal) {
        name = principal.getName();
        ofName = all.names.join(name);
    }

    /** Returns the share for a new call. */
    Share share() {
        Share named = ofName;
        if (named != null) {
            return named;
        }
        return all.networks.areSeveral() ? ofNetwork : ofConnection();
    }

    private Share ofConnection() {
        Share made = ofConnection;
        if (made == null) {
            made = new Share(connection, ofNetwork); // there may be several networks before its calls have ended
            ofConnection = made;
        }
        return made;
    }

    /** The connection is closed. Called once. */
    void closed() {
        all.networks.leave(network);
        if (name != null) {
            all.names.leave(name);
        }
    }
}
