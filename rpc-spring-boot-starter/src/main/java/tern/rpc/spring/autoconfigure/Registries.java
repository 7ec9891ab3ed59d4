package tern.rpc.spring.autoconfigure;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;

/**
 * Opens and closes the application's registries. Each registry is opened once, and closed with the application.
 * Thread-safe.
 */
final class Registries implements DisposableBean {

    private static final String ZOOKEEPER = "zookeeper";
    private static final Set<String> SCHEMES = Set.of(ZOOKEEPER, "file");
    private static final Pattern HOSTS = Pattern.compile("[\\w.-]+:\\d{1,5}(,[\\w.-]+:\\d{1,5})*");
    private static final Pattern SCHEME = Pattern.compile("^([a-z][a-z0-9+-]{0,31})://");
    private static final Pattern ANOTHER = Pattern.compile(",\\s*[a-z][a-z0-9+-]{0,31}://");
    private static final String EXPECTED =
            "the address of a registry, such as zookeeper://host:2181 or file:///path.json";

    private final ObjectProvider<Registry.Factory> factories;
    private final Map<RegistryUrl, Registry> open = new HashMap<>(); // guarded by this

    Registries(ObjectProvider<Registry.Factory> factories) {
        this.factories = factories;
    }

    /** Returns whether the string is a registry address, not a provider address. */
    static boolean isRegistry(String text) {
        return SCHEMES.stream().anyMatch(scheme -> text.trim().startsWith(scheme + "://"));
    }

    /**
     * Returns the registry whose address is in the property. Returns an empty result if the property contains provider
     * addresses.
     */
    static Stream<RegistryUrl> in(String property, List<String> urls) {
        if (urls.stream().noneMatch(Registries::isRegistry)) {
            return Stream.empty();
        }
        // Spring splits the property's value at commas, but a registry address can contain commas. The parts are
        // therefore joined again.
        return Stream.of(parse(property, String.join(",", urls)));
    }

    /**
     * Parses a property that contains several registries. An element without a scheme is another server of the
     * preceding registry.
     */
    static List<RegistryUrl> parseAll(String property, List<String> urls) {
        StringBuilder joined = new StringBuilder();
        for (String url : urls) {
            joined.append(joined.isEmpty() ? "" : isRegistry(url) ? "\n" : ",").append(url.trim());
        }
        return joined.isEmpty()
                ? List.of()
                : joined.toString().lines().map(url -> parse(property, url)).toList();
    }

    /**
     * Parses a registry address.
     *
     * @param property the property's name, for error messages. Error messages do not contain the address, which can
     *     include a password
     */
    static RegistryUrl parse(String property, String text) {
        Matcher scheme = SCHEME.matcher(text.trim());
        if (scheme.find() && !SCHEMES.contains(scheme.group(1))) {
            throw new InvalidPropertyException(
                    property,
                    property + " has the scheme " + scheme.group(1) + ", which is not supported; supported are "
                            + "zookeeper and file",
                    "Set it to " + EXPECTED + ", or leave it out.",
                    null);
        }
        // If the text is only a list of hosts, the error message may contain it, because it contains no password.
        if (HOSTS.matcher(text.trim()).matches()) {
            throw new InvalidPropertyException(
                    property,
                    property + " is " + text.trim() + ", which has no scheme",
                    "Set it to zookeeper://" + text.trim() + ", or leave it out.",
                    null);
        }
        if (!isRegistry(text)) {
            throw new InvalidPropertyException(property, "of another form", EXPECTED);
        }
        if (ANOTHER.matcher(text).find()) {
            throw new InvalidPropertyException(
                    property,
                    property + " names several registries, but a reference looks for its providers in one",
                    "Keep one. Name each of the others in rpc.client.registries.<name>, and set"
                            + " rpc.client.services.<name>.registry to its name.",
                    null);
        }
        try {
            return RegistryUrl.parse(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(property, "of another form", EXPECTED);
        }
    }

    synchronized Registry at(RegistryUrl url) {
        return open.computeIfAbsent(url, this::open);
    }

    private Registry open(RegistryUrl url) {
        Registry.Factory factory = factories
                .orderedStream()
                .filter(each -> each.accepts(url.scheme()))
                .findFirst()
                .orElseThrow(() -> new RpcStartException(
                        url + " needs tern-rpc-registry-" + url.scheme() + ", which is not on the class path",
                        "Add io.github.tern-rpc:tern-rpc-registry-" + url.scheme()
                                + ", which the starter does not contain.",
                        null));
        try {
            return factory.open(url);
        } catch (IllegalArgumentException e) {
            throw new RpcStartException(
                    "The registry cannot be used: " + e.getMessage(), "Correct the address of the registry.", e);
        }
    }

    @Override
    public synchronized void destroy() {
        open.values().forEach(Registry::close);
        open.clear();
    }
}
