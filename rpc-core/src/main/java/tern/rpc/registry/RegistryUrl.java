package tern.rpc.registry;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The address of a registry, such as {@code zookeeper://user:secret@10.0.0.9:2181,10.0.0.10:2181/chroot?group=shop} or
 * {@code file:///etc/providers.json}. The result of {@link #toString} never contains the credentials.
 *
 * @param scheme the kind of registry, in lower case
 * @param user the user name; may be empty
 * @param password the password; may be empty
 * @param hosts {@code host:port} of each server, or empty for a file
 * @param path the part after the hosts, including the slash; may be empty
 * @param parameters the decoded parameters
 */
public record RegistryUrl(
        String scheme, String user, String password, List<String> hosts, String path, Map<String, String> parameters) {

    private static final Pattern FORM = Pattern.compile("(?<scheme>[a-z][a-z0-9+-]*)://"
            + "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?"
            + "(?<hosts>[^/?@]*)(?<path>/[^?]*)?(?:\\?(?<query>.*))?");

    /** Dubbo's parameter for additional servers. */
    private static final String BACKUP = "backup";

    private static final Pattern SECRET =
            Pattern.compile("(?i).*(pass?w|pwd|secret|token|username|user|auth|digest).*");
    private static final String MASK = "…";

    public RegistryUrl {
        hosts = List.copyOf(hosts);
        parameters = Map.copyOf(parameters);
    }

    /**
     * @throws IllegalArgumentException if the text is not a registry address; the message does not contain the text
     */
    public static RegistryUrl parse(String text) {
        Matcher form = FORM.matcher(text.trim());
        if (!form.matches()) {
            throw new IllegalArgumentException("not an address of a registry; expected scheme://host:port");
        }
        boolean isSplit = form.group("user") == null && !form.group("hosts").isEmpty();
        if (isSplit && text.indexOf('@') >= 0) {
            // Without this check, later error messages would treat parts of the password as a server, a path or a
            // parameter, and show them.
            throw new IllegalArgumentException("a user or password with / or ? must be encoded, such as %2F or %3F");
        }
        Map<String, String> parameters = parameters(form.group("query"));
        List<String> hosts = new ArrayList<>(hosts(form.group("hosts")));
        hosts.addAll(hosts(parameters.remove(BACKUP)));
        return new RegistryUrl(
                form.group("scheme"),
                decoded(form.group("user")),
                decoded(form.group("password")),
                hosts,
                form.group("path") == null ? "" : form.group("path"),
                parameters);
    }

    private static List<String> hosts(@Nullable String text) {
        return text == null || text.isEmpty()
                ? List.of()
                : Stream.of(text.split(",", -1)).map(String::trim).toList();
    }

    private static Map<String, String> parameters(@Nullable String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query != null) {
            for (String pair : query.split("&")) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                String value = equals < 0 ? "" : pair.substring(equals + 1);
                if (!pair.isEmpty() && parameters.put(decoded(name), decoded(value)) != null) {
                    throw new IllegalArgumentException("a parameter is given twice");
                }
            }
        }
        return parameters;
    }

    private static String decoded(@Nullable String text) {
        return text == null ? "" : URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** Returns the value of a parameter, or the given default. */
    public String parameter(String name, String otherwise) {
        return parameters.getOrDefault(name, otherwise);
    }

    /**
     * Checks that the address has only the given parameters.
     *
     * @throws IllegalArgumentException if the address has another parameter; the message contains this parameter, its
     *     value and the allowed parameters
     */
    public void checkParameters(Set<String> allowed) {
        for (String name : new TreeMap<>(parameters).keySet()) {
            if (!allowed.contains(name)) {
                throw new IllegalArgumentException(this + " has the unknown parameter " + name + " with the value '"
                        + shown(name) + "'; "
                        + (allowed.isEmpty() ? "no parameters are allowed" : "allowed are " + new TreeSet<>(allowed)));
            }
        }
    }

    /** Creates an exception for a parameter whose value cannot be used. A secret value is not shown. */
    public IllegalArgumentException invalid(String name, String expected) {
        return new IllegalArgumentException(
                "the parameter " + name + " of " + this + " is '" + shown(name) + "'; expected " + expected);
    }

    private String shown(String name) {
        return SECRET.matcher(name).matches() ? MASK : parameters.getOrDefault(name, "");
    }

    public boolean hasCredentials() {
        return !user.isEmpty() || !password.isEmpty();
    }

    /** Returns the address without the user, the password and any parameter values that may be secret. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(scheme).append("://");
        if (hasCredentials()) {
            text.append(MASK).append('@');
        }
        text.append(String.join(",", hosts)).append(path);
        char separator = '?';
        for (Map.Entry<String, String> parameter : new TreeMap<>(parameters).entrySet()) {
            text.append(separator).append(parameter.getKey()).append('=').append(shown(parameter.getKey()));
            separator = '&';
        }
        return text.toString();
    }
}
