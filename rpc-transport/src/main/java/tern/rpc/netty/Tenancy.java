package tern.rpc.netty;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;

/**
 * Decides which tenant the calls of a connection count for. With a client certificate, it is the subject of the
 * certificate. Otherwise it is the address if there are connections from several addresses, and the connection itself
 * if there is only one address, which may be a proxy for many callers (docs/decisions/0019). Confined to the event
 * loop.
 */
final class Tenancy {

    /**
     * Length of the common prefix of the addresses in one IPv6 network, in bytes. The owner of one address usually owns
     * all addresses with its prefix.
     */
    private static final int NETWORK_BYTES = 8;

    /** The tenants of all connections of a server. Thread-safe. */
    static final class Of {
        private final Tenants<InetAddress> networks = new Tenants<>(InetAddress::getHostAddress);
        private final Tenants<String> names = new Tenants<>(name -> name);

        /** The number of tenants without connections whose methods still run, for tests. */
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

    /**
     * @param connection its text is the name of the connection
     */
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
            throw new IllegalStateException(e); // impossible, because sixteen bytes are always an address
        }
    }

    InetAddress network() {
        return network;
    }

    /** Called at most once, when the handshake has shown the subject of the certificate. */
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
            // with the network as parent, because several networks may appear before the calls of this connection have
            // ended
            made = new Share(connection, ofNetwork);
            ofConnection = made;
        }
        return made;
    }

    /** Called once, when the connection is closed. */
    void closed() {
        all.networks.leave(network);
        if (name != null) {
            all.names.leave(name);
        }
    }
}
