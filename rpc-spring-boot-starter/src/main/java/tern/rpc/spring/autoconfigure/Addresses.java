package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;
import tern.rpc.transport.InMemoryTransport;

/**
 * The provider addresses from a property or annotation.
 *
 * @param protocol the protocol of the addresses; null if the addresses contain no protocol
 */
record Addresses(@Nullable String protocol, List<Instance> endpoints) {

    /**
     * The known protocols except {@code dubbo}, which is the default for addresses without a protocol. Unknown
     * protocols are rejected later.
     */
    private static final Set<String> OTHER_PROTOCOLS = Set.of("tri", "http");

    private static final String EXPECTED =
            "host:port, [ipv6]:port or protocol://host:port with a port from 1 to 65535, each optionally with ?weight=50, or"
                    + " local";
    private static final String EXPECTED_ATTRIBUTES =
            EXPECTED + "; attributes are weight=50, zone=<name> and tag=<name>, joined by &";
    private static final int MAX_PORT = 65_535;
    private static final Pattern LOCAL = Pattern.compile("local(:/{2,3})?");
    /** An object without addresses, for references whose addresses come from a registry. */
    static final Addresses NONE = new Addresses(null, List.of());

    private static final Pattern LOCAL_WITH_MORE = Pattern.compile("(?i)local(:/.*|:\\d+|\\?.*)?");
    private static final String OWN_PORT = "${local.rpc.port}";

    /** The address of the server in the same application, which is called in-process, without a network. */
    static final Addresses OWN_SERVER =
            new Addresses(InMemoryTransport.PROTOCOL, List.of(Instance.of(new Endpoint("local", 0))));

    private static final Pattern FORM = Pattern.compile("(?:(?<protocol>[a-z][a-z0-9+.-]*)://)?"
            + "(?:\\[(?<ipv6>[0-9a-fA-F:.%]+)]|(?<host>[\\w.-]+))"
            + "(?::(?<port>\\d{1,5}))?/?"
            + "(?:\\?(?<attributes>[^?#]*))?");
    private static final Pattern SEPARATORS = Pattern.compile("[;\\s]");
    private static final Pattern PATH =
            Pattern.compile("(?:[a-z][a-z0-9+.-]*://)?[^/?#@]+(?<path>/[^/?#][^?#]*)(?:[?#].*)?");
    private static final Pattern CAPITALS = Pattern.compile("[a-z]*[A-Z][A-Za-z]*://.*");
    private static final Pattern WILDCARD = Pattern.compile("[0:]+");
    private static final Pattern ATTRIBUTE =
            Pattern.compile("weight=(?<weight>\\d{1,9})|zone=(?<zone>[^&=]+)|tag=(?<tag>[^&=]+)");
    private static final Pattern IPV4 = Pattern.compile("[0-9.]+");
    private static final Pattern OCTETS =
            Pattern.compile("(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}");

    Addresses {
        endpoints = List.copyOf(endpoints);
    }

    /** @param property the property that contains the addresses, for error messages */
    static Addresses parse(String property, List<String> urls) {
        String protocol = null;
        boolean unnamed = false;
        List<Instance> endpoints = new ArrayList<>();
        if (urls.size() == 1 && LOCAL.matcher(urls.get(0).trim()).matches()) {
            return OWN_SERVER;
        }
        for (String url : urls) {
            Matcher form = FORM.matcher(url.trim());
            if (url.contains(OWN_PORT)) {
                throw ownPortIsNotKnown(property);
            }
            if (LOCAL_WITH_MORE.matcher(url.trim()).matches()) {
                throw new InvalidPropertyException(
                        property,
                        "'" + withoutUser(String.join(",", urls)) + "'",
                        "local without a host and without other addresses, for the server of this application"
                                + (urls.size() == 1 ? "; write local, in small letters and without a port" : ""));
            }
            if (url.isBlank() && urls.size() > 1) {
                throw new InvalidPropertyException(
                        property,
                        "'" + withoutUser(String.join(",", urls)) + "'",
                        "an address before and after each comma: " + EXPECTED);
            }
            if (!form.matches() || port(form) < 1 || port(form) > MAX_PORT || isPartOfAddress(form.group("host"))) {
                throw new InvalidPropertyException(property, "'" + withoutUser(url) + "'", EXPECTED + hint(url));
            }
            if (isWildcard(form)) {
                throw new InvalidPropertyException(
                        property,
                        "'" + withoutUser(url) + "'",
                        "the address of one provider, such as localhost or a host name; this address stands for all"
                                + " addresses of a server and is for rpc.server.address");
            }
            String named = form.group("protocol");
            if (protocol != null && named != null && !protocol.equals(named)) {
                throw new InvalidPropertyException(
                        property, withoutUser(String.join(",", urls)), "one protocol for all addresses of a service");
            }
            protocol = named == null ? protocol : named;
            unnamed |= named == null;
            endpoints.add(instance(property, url, form));
        }
        if (protocol != null && unnamed && OTHER_PROTOCOLS.contains(protocol)) {
            throw new InvalidPropertyException(
                    property,
                    withoutUser(String.join(",", urls)),
                    "the same protocol for all addresses of a service: write " + protocol
                            + ":// before each address, or before none");
        }
        return new Addresses(protocol, endpoints);
    }

    /**
     * Returns a description of a common mistake in the address; an empty string if the address contains no such
     * mistake.
     */
    private static String hint(String url) {
        String address = url.trim();
        if (address.startsWith("file:")) {
            return "; the registry in a file is file:///path.json, with three slashes";
        }
        if (SEPARATORS.matcher(address).find()) {
            return "; a comma separates addresses";
        }
        Matcher schema = CAPITALS.matcher(address);
        if (schema.matches()) {
            return "; a protocol is written in small letters";
        }
        if (address.indexOf('@') >= 0) {
            return "; an address has no user, and rpc.client.token sets a token";
        }
        Matcher path = PATH.matcher(address);
        return path.matches() ? "; an address has no path, so leave out '" + path.group("path") + "'" : "";
    }

    private static boolean isWildcard(Matcher form) {
        return form.group("ipv6") == null
                ? "0.0.0.0".equals(form.group("host"))
                : WILDCARD.matcher(form.group("ipv6")).matches();
    }

    /**
     * Returns the exception for an address that refers to the port of this application's own server, for example by a
     * placeholder. Such an address has no value yet, because references are created before the server listens.
     */
    static RpcStartException ownPortIsNotKnown(String property) {
        return new RpcStartException(
                property + " names " + OWN_PORT + ", the port of this application's own server, which is not known"
                        + " before everything else has started",
                "Set " + property + " to local, which calls the server of the same application without a port.",
                null);
    }

    static boolean namesOwnPort(String text) {
        return text.contains(OWN_PORT);
    }

    /** Returns the address without the user and password that addresses of other systems can contain. */
    private static String withoutUser(String url) {
        int end = url.lastIndexOf('@');
        return end < 0 ? url : "…" + url.substring(end);
    }

    private static Instance instance(String property, String url, Matcher form) {
        String host = form.group("ipv6") == null ? form.group("host") : form.group("ipv6");
        return new Instance(new Endpoint(host, port(form)), attributes(property, url, form.group("attributes")));
    }

    private static Attributes attributes(String property, String url, @Nullable String text) {
        Attributes attributes = Attributes.DEFAULT;
        if (text == null) {
            return attributes;
        }
        for (String part : text.split("&", -1)) {
            Matcher attribute = ATTRIBUTE.matcher(part);
            if (!attribute.matches()) {
                throw new InvalidPropertyException(
                        property, "'" + withoutUser(url) + "'", EXPECTED_ATTRIBUTES + attributeHint(part));
            }
            if (attribute.group("weight") != null) {
                attributes = attributes.withWeight(Integer.parseInt(attribute.group("weight")));
            } else if (attribute.group("zone") != null) {
                attributes = attributes.withZone(attribute.group("zone"));
            } else {
                attributes = attributes.withTags(Map.of(Attributes.TAG, attribute.group("tag")));
            }
        }
        return attributes;
    }

    /** Returns advice on an attribute of a Dubbo address; an empty string if there is no advice. */
    private static String attributeHint(String attribute) {
        String name = attribute.substring(0, Math.max(0, attribute.indexOf('=')));
        List<String> property = List.of("rpc", "client", "services", "<name>", name);
        if (name.equals("timeout") || name.equals("group") || name.equals("version")) {
            return "; " + name + " is the property " + PropertyPaths.joined(property);
        }
        // Dubbo and Tern both have the attributes "weight" and "tag", so only the value can be wrong.
        boolean isKnown = name.isEmpty() || name.equals("weight") || name.equals("tag");
        String advice = isKnown ? null : DubboOptions.insteadOf(property);
        return advice == null ? "" : "; about " + name + ": " + advice;
    }

    private static int port(Matcher form) {
        String port = form.group("port");
        return port == null ? RpcServer.DEFAULT_PORT : Integer.parseInt(port);
    }

    /**
     * Returns whether the host consists of numbers but is not an IPv4 address. Java would read the host 20880 as
     * 0.0.81.144.
     */
    private static boolean isPartOfAddress(@Nullable String host) {
        return host != null
                && IPV4.matcher(host).matches()
                && !OCTETS.matcher(host).matches();
    }

    /** Returns whether at least one of the addresses contains a host name that must be resolved. */
    static boolean haveNames(List<Instance> endpoints) {
        return endpoints.stream()
                .map(instance -> instance.endpoint().host())
                .anyMatch(host -> host.indexOf(':') < 0 && !IPV4.matcher(host).matches());
    }
}
