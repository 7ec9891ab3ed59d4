package tern.rpc.registry;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.settings.InvalidPropertyException;

/**
 * The address that a provider publishes. These addresses are tried in this order: the configured host, an address of
 * this machine in the configured network, the single address that the server listens on, and the source address of the
 * route to the registry.
 *
 * @param reason the source of the host, for the log
 */
public record AdvertisedAddress(String host, int port, String reason) {

    private static final Pattern IPV4 = Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*");

    /**
     * The settings that determine the address.
     *
     * @param host a host name or an IP address; may be null
     * @param port the port, or 0 for the port that the server listens on
     * @param network a network such as {@code 10.1.0.0/16}, or the name of a network interface; may be null
     */
    public record Wish(
            @Nullable String host, int port, @Nullable String network) {

        /** @throws InvalidPropertyException if the host or the network is invalid */
        public Wish {
            if (host != null) {
                checkHost(host);
            }
            if (network != null) {
                Network.parse(network);
            }
        }
    }

    private static void checkHost(String host) {
        if (host.indexOf('%') >= 0) {
            throw invalidHost(host, "an address without the part after %, which is meaningful only on this machine");
        }
        if (host.matches("[^:]+:\\d+|\\[.*]:\\d+")) {
            throw invalidHost(host, "a host without a port; the port belongs to rpc.server.advertise.port");
        }
        if (!HOST.matcher(host).matches() || !isAddressOrName(host)) {
            throw invalidHost(host, "a host name or an IP address without a port");
        }
        if (!new Endpoint(host, 1).mayBeProvider()) {
            throw invalidHost(host, "the address of one machine, to which consumers can connect");
        }
    }

    /** Returns whether the host is a valid IP address or a name. Names are not looked up. */
    private static boolean isAddressOrName(String host) {
        if (host.indexOf(':') < 0) {
            return !host.matches("[\\d.]+") || IPV4.matcher(host).matches();
        }
        try {
            return InetAddress.getByName(host) != null;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static InvalidPropertyException invalidHost(String host, String expected) {
        return new InvalidPropertyException("rpc.server.advertise.host", "'" + host + "'", expected);
    }

    /** Gives access to this machine's network. Tests use another implementation. */
    public interface Machine {

        /** Returns the source address of packets sent to the given remote address. */
        InetAddress routeTo(InetSocketAddress remote) throws IOException;

        /** Returns the addresses of all network interfaces that are up. */
        List<CardAddress> addresses() throws IOException;

        /**
         * Opens a connection to the given address and determines which process accepts it. Blocks for at most two
         * seconds.
         *
         * @param accepted returns the number of connections that this process has accepted, or -1 if it is unknown
         */
        Answer connectTo(String host, int port, LongSupplier accepted);
    }

    /** The process that accepts connections at an address. */
    public enum Answer {
        /** No connection to the address could be opened. */
        NONE,
        /**
         * A connection was opened. This process accepted no connection, so another process must have accepted this one.
         */
        OTHER_PROCESS,
        /**
         * This process accepted a connection, or does not count its connections. The accepted connection is not
         * necessarily the connection that was opened. Source addresses are not compared, because a proxy can change
         * them.
         */
        THIS_PROCESS
    }

    /** An address of a network interface. */
    public record CardAddress(String card, InetAddress address) {

        @Override
        public String toString() {
            return address.getHostAddress() + " (" + card + ")";
        }
    }

    /**
     * Chooses the address that the provider publishes.
     *
     * @param bound the address that the server listens on, or null for all addresses
     * @param remotes the addresses of the registry's servers, whose names this method looks up; empty for a registry
     *     without a network
     * @throws NoRouteException if the address depends on the route to these servers, but there is currently no route to
     *     any of the servers
     * @throws IllegalArgumentException if no address matches the configuration, or if consumers of the registry could
     *     not reach the address. The message names the property to set
     */
    public static AdvertisedAddress choose(
            Wish wish, @Nullable InetAddress bound, int port, List<InetSocketAddress> remotes, Machine machine) {
        int advertised = wish.port() == 0 ? port : wish.port();
        AdvertisedAddress chosen = wish.host() != null
                ? new AdvertisedAddress(wish.host(), advertised, "rpc.server.advertise.host")
                : found(wish, bound, advertised, remotes, machine);
        String kind = uselessKind(chosen.host());
        if (!kind.isEmpty()) {
            for (InetSocketAddress remote : remotes) {
                InetSocketAddress server = resolved(remote);
                if (!server.isUnresolved() && !isOfThisMachine(server, machine)) {
                    throw useless(chosen, kind, server, machine);
                }
            }
        }
        return chosen;
    }

    private static InetSocketAddress resolved(InetSocketAddress remote) {
        return remote.isUnresolved() ? new InetSocketAddress(remote.getHostString(), remote.getPort()) : remote;
    }

    private static AdvertisedAddress found(
            Wish wish, @Nullable InetAddress bound, int port, List<InetSocketAddress> remotes, Machine machine) {
        if (wish.network() != null) {
            Network network = Network.parse(wish.network());
            return addresses(machine).stream()
                    .filter(network::contains)
                    .findFirst()
                    .map(found -> of(found.address(), port, "rpc.server.advertise.network, card " + found.card()))
                    .orElseThrow(() -> new IllegalArgumentException("rpc.server.advertise.network is " + wish.network()
                            + ", but no address of this machine belongs to it; it has " + list(machine)));
        }
        if (bound != null && !bound.isAnyLocalAddress()) {
            return of(bound, port, "rpc.server.address");
        }
        return remotes.isEmpty()
                ? of(InetAddress.getLoopbackAddress(), port, "the registry is a file")
                : ofRoute(port, remotes, machine);
    }

    /** Returns this machine's address on the route to the first reachable server. Prefers routes to other machines. */
    private static AdvertisedAddress ofRoute(int port, List<InetSocketAddress> remotes, Machine machine) {
        AdvertisedAddress local = null;
        List<String> failed = new ArrayList<>();
        IOException last = null;
        for (InetSocketAddress remote : remotes) {
            try {
                InetAddress source = machine.routeTo(resolved(remote));
                AdvertisedAddress found = of(source, port, "the route to " + remote.getHostString());
                if (!source.isLoopbackAddress()) {
                    return found;
                }
                local = local == null ? found : local;
            } catch (IOException e) {
                failed.add(remote.getHostString() + " (" + e.getMessage() + ")");
                last = e;
            }
        }
        if (local != null) {
            return local;
        }
        throw new NoRouteException(
                "there is no route to the registry at " + String.join(", ", failed)
                        + ", which would give the address of this provider; set rpc.server.advertise.host",
                last);
    }

    /**
     * Returns whether the address was configured or still belongs to this machine. The address of a container can
     * change while the process is running.
     */
    public boolean isStillUsable(Wish wish, Machine machine) {
        try {
            return wish.host() != null
                    || machine.addresses().stream()
                            .anyMatch(own -> of(own.address(), port, "").host().equals(host));
        } catch (IOException e) {
            return true;
        }
    }

    private static AdvertisedAddress of(InetAddress address, int port, String reason) {
        String host = address.getHostAddress();
        int scope = host.indexOf('%');
        return new AdvertisedAddress(scope < 0 ? host : host.substring(0, scope), port, reason);
    }

    private static boolean isOfThisMachine(InetSocketAddress remote, Machine machine) {
        InetAddress address = remote.getAddress();
        return address != null
                && (address.isLoopbackAddress()
                        || addresses(machine).stream()
                                .anyMatch(own -> own.address().equals(address)));
    }

    /**
     * Returns the kind of an address that other machines cannot reach, such as {@code loopback}. Returns an empty
     * string for any other address. Names are not looked up, because a name can resolve to a different address on
     * another machine.
     */
    private static String uselessKind(String host) {
        if (host.equalsIgnoreCase("localhost")) {
            return "loopback";
        }
        if (host.indexOf(':') < 0 && !IPV4.matcher(host).matches()) {
            return "";
        }
        InetAddress address = new InetSocketAddress(host, 0).getAddress();
        if (address == null) {
            return "";
        }
        return address.isLoopbackAddress() ? "loopback" : address.isLinkLocalAddress() ? "link-local" : "";
    }

    private static IllegalArgumentException useless(
            AdvertisedAddress chosen, String kind, InetSocketAddress server, Machine machine) {
        return new IllegalArgumentException("the address to publish is " + chosen.host() + " (from " + chosen.reason()
                + "), a " + kind + " address that consumers of the registry at " + server.getHostString()
                + " cannot reach; set rpc.server.advertise.host or rpc.server.advertise.network. This machine has "
                + list(machine));
    }

    private static String list(Machine machine) {
        return addresses(machine).stream().map(CardAddress::toString).collect(Collectors.joining(", "));
    }

    private static List<CardAddress> addresses(Machine machine) {
        try {
            return machine.addresses();
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Tries to connect to the address, so that a wrong address is detected before consumers use it.
     *
     * @param accepted returns the number of connections that the server has accepted
     * @return a warning with the address, its origin, and the property to change; empty if the connection has reached
     *     the server
     */
    public String check(Machine machine, LongSupplier accepted) {
        String publishes = "This provider will publish " + host + ":" + port + " (from " + reason + "), but ";
        String remedy = "rpc.server.advertise.host or rpc.server.advertise.network; this machine has " + list(machine);
        return switch (machine.connectTo(host, port, accepted)) {
            case THIS_PROCESS -> "";
            case OTHER_PROCESS ->
                publishes + "another process accepts connections there, and consumers would call that process. Set"
                        + " rpc.server.advertise.port, " + remedy;
            case NONE ->
                publishes + "this machine itself cannot connect there. If consumers cannot either, set " + remedy;
        };
    }
}
