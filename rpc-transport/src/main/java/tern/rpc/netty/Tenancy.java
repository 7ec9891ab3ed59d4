package tern.rpc.netty;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;

/**
 * Selects the tenant whose {@link Share} counts the calls on a connection. If the client has a certificate, the tenant
 * is the subject of the certificate. Otherwise, if the server has connections from several addresses, the tenant is the
 * client's address. If all connections come from one address, each connection is a tenant, because the address might
 * belong to a proxy for many callers (docs/decisions/0019). Confined to the event loop.
 */
final class Tenancy {

    /**
     * The number of leading bytes that all addresses of one IPv6 network have in common. These addresses usually have
     * the same owner.
     */
    private static final int NETWORK_BYTES = 8;

    /** The tenants with connections to one server. Thread-safe. */
    static final class Of {
        private final Tenants<InetAddress> networks = new Tenants<>(InetAddress::getHostAddress);
        private final Tenants<String> names = new Tenants<>(name -> name);
        private final OpenStreams streams;

        Of() {
            this(OpenStreams.ofHeap());
        }

        Of(OpenStreams streams) {
            this.streams = streams;
        }

        OpenStreams streams() {
            return streams;
        }

        /** Returns the number of tenants that are queued for removal. Used by tests. */
        int remembered() {
            return networks.remembered() + names.remembered();
        }
    }

    private final Of all;
    private final Object connection;
    private final InetAddress network;
    private final Share ofNetwork;
    // the call counter of this connection; created when a call first uses the connection as its tenant
    private @Nullable Share ofConnection;
    private @Nullable Share ofName;
    private @Nullable String name;

    /** @param connection an object whose string representation identifies the connection */
    Tenancy(Of all, InetAddress host, Object connection) {
        this.all = all;
        this.connection = connection;
        this.network = network(host);
        this.ofNetwork = all.networks.join(network);
        ofNetwork.connectionOpens();
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
            // this exception cannot occur, because sixteen bytes are always a valid address
            throw new IllegalStateException(e);
        }
    }

    InetAddress network() {
        return network;
    }

    /**
     * Sets the tenant's name. Called at most once, when the TLS handshake has revealed the subject of the client's
     * certificate.
     */
    void named(Principal principal) {
        name = principal.getName();
        ofName = all.names.join(name);
    }

    /** Returns the call counter ({@link Share}) of the tenant that a new call on this connection belongs to. */
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
            // A Share counts the calls from one tenant. The Share of a connection also adds its calls to the Share of
            // the client's address. The sum for the address is needed if a connection from a second address arrives
            // while the call is running. From then on, the client's address is the tenant.
            made = new Share(connection, ofNetwork);
            ofConnection = made;
        }
        return made;
    }

    /** Called once, when the connection is closed. */
    void closed() {
        ofNetwork.connectionCloses();
        all.networks.leave(network);
        if (name != null) {
            all.names.leave(name);
        }
    }
}
