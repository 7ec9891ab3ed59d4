package tern.rpc.diagnosis.account;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.pool.StoreNames;

/**
 * Extracts information from the names of operations. The name of an HTTP exchange or a remote call contains a peer. The
 * name of an operation that failed ends with a status, or with the word {@code failed} and possibly an error code.
 */
public final class OperationNames {

    /** The text between the method and the provider in the name of a remote call. */
    private static final String AT = " at ";

    /** Matches the beginning of the name of an HTTP exchange, or the end of the name of a remote call. */
    private static final Pattern PEER =
            Pattern.compile("^[A-Z]+ (?:[^ :]+|\\[[^ \\]]+]):\\d+(?:/|$| \\()|^[\\w.$]+ at [^ ]+:\\d+(?:$| \\()");

    private static final Pattern FAILING = Pattern.compile(" \\((?:429|5\\d\\d|failed(?: ([0-9A-Z_]+))?)\\)$");

    /** Matches the end of the name of an exchange that was answered with a redirect, or that followed redirects. */
    private static final Pattern REDIRECT = Pattern.compile(" \\((?:\\d+ )?redirects? to ([^ )]+)\\)$");

    /**
     * The prefix of a name that represents all operations on one of several stores (data sources or Redis servers) or
     * peers.
     */
    public static final String ALL = "all of ";

    /** The name that represents all redirected exchanges. {@link #isNamed} recognizes it. */
    public static final String REDIRECTED = "(redirected)";

    private OperationNames() {}

    /**
     * Returns the store or peer in the name of an operation: the data source, the Redis server, or the address of a
     * peer. Returns an empty string if the name contains none.
     */
    public static String store(String name) {
        String store = StoreNames.in(withoutStatus(name));
        return !store.isEmpty() || !PEER.matcher(name).find() ? store : address(name);
    }

    /**
     * Returns the store or peer if the given name represents all of its operations; null if the name belongs to a
     * single operation.
     */
    public static @Nullable String storeOfAll(Part part) {
        return part.name().startsWith(ALL) ? part.name().substring(ALL.length()) : null;
    }

    /**
     * Returns whether the operation has the given name. Also returns true if the name is the operation's remote method,
     * or represents all operations of the operation's store or peer, or all redirected exchanges.
     */
    public static boolean isNamed(String operation, String name) {
        if (name.equals(REDIRECTED)) {
            return isRedirected(operation);
        }
        if (name.startsWith(ALL)) {
            return store(operation).equals(name.substring(ALL.length()));
        }
        return operation.equals(name) || (!name.isEmpty() && operation.startsWith(name + AT));
    }

    /**
     * Returns the method in the name of a remote call, which has the form {@code method at provider}. Returns null if
     * the name contains no provider.
     */
    public static @Nullable String method(String name) {
        int end = name.indexOf(AT);
        return end < 0 ? null : name.substring(0, end);
    }

    /** Returns the peer's address from the name of an HTTP exchange or remote call. */
    public static String address(String name) {
        String address = name.substring(name.lastIndexOf(' ', name.indexOf(':')) + 1);
        int end = address.indexOf('/');
        return withoutStatus(end < 0 ? address : address.substring(0, end));
    }

    /** Returns whether an HTTP exchange or remote call goes to a loopback address, which loses no packets. */
    public static boolean isLoopback(String name) {
        String address = address(name);
        return address.startsWith("localhost:") || address.startsWith("127.") || address.startsWith("[::1]");
    }

    /**
     * Returns whether the given name is the name of a failed operation, that is, whether it ends with status 429,
     * status 5xx or the word {@code failed}.
     */
    public static boolean isFailing(String name) {
        return NamedTimes.isFailed(name);
    }

    /** Returns the error code of the failed operation with the given name; empty if the name contains none. */
    public static String errorCode(String name) {
        Matcher failing = FAILING.matcher(name);
        return failing.find() && failing.group(1) != null ? failing.group(1) : "";
    }

    /** Returns whether the given exchange was answered with a redirect, or followed redirects. */
    public static boolean isRedirected(String name) {
        return REDIRECT.matcher(name).find();
    }

    /** Returns the address that the given exchange was redirected to; an empty string if it was not redirected. */
    public static String redirectedTo(String name) {
        Matcher redirect = REDIRECT.matcher(name);
        return redirect.find() ? redirect.group(1) : "";
    }

    /** Removes a trailing status, failure or redirect from the name of an operation. */
    public static String withoutStatus(String name) {
        return REDIRECT.matcher(FAILING.matcher(name).replaceFirst("")).replaceFirst("");
    }
}
