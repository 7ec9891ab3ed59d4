package tern.rpc.registry.dubbo;

import java.util.Set;

/**
 * The limits on registry entries. Limits are necessary because anyone who can reach the registry can write entries
 * (docs/registries.md).
 */
public final class Limits {

    /** The maximum size of an instance's entry in bytes, and of an entry's name in characters. */
    public static final int MAX_ENTRY = 64 * 1024;

    /** The maximum number of parameters in an entry. */
    public static final int MAX_KEYS = 256;

    /**
     * The maximum size of an application's metadata in bytes. The maximum equals ZooKeeper's default limit for a node.
     */
    public static final int MAX_METADATA = 1024 * 1024;

    /** The maximum number of JSON members in an application's metadata. */
    static final int MAX_METADATA_MEMBERS = 100_000;

    /** The maximum number of services that an application offers. */
    public static final int MAX_SERVICES = 5_000;

    /** The maximum number of applications that offer one interface. */
    public static final int MAX_APPLICATIONS = 100;

    /** The maximum length of the name of an application, an interface or a revision, in characters. */
    static final int MAX_NAME = 512;

    /**
     * The maximum length of most parameters that a consumer uses, in characters. A longer parameter is treated as
     * missing.
     */
    static final int MAX_ATTRIBUTE = 1_024;

    /**
     * The parameters that {@link #MAX_ATTRIBUTE} does not apply to. Without these parameters, calls would fail or would
     * reach the wrong providers. Their length is limited only by the size of the entry.
     */
    private static final Set<String> ANY_LENGTH =
            Set.of(ProcessEntry.SERVICE_PARAMETERS, ReadAttributes.TAG, ReadAttributes.TOKEN);

    private static final int SHOWN = 120;

    private Limits() {}

    /** @throws IllegalArgumentException if the size exceeds the limit */
    public static void check(String what, int size, int most) {
        if (size > most) {
            throw new IllegalArgumentException(what + " is " + size + ", more than " + most);
        }
    }

    /** Returns whether a parameter that a consumer uses is so long that it is treated as missing. */
    static boolean isTooLong(String name, String value) {
        return value.length() > MAX_ATTRIBUTE && !ANY_LENGTH.contains(name);
    }

    /**
     * Prepares a string from the registry for log and error messages: shortens the string, and replaces control and
     * format characters with {@code ?}.
     */
    public static String shown(String text) {
        StringBuilder clean = new StringBuilder();
        for (int i = 0; i < text.length() && i < SHOWN; i++) {
            char c = text.charAt(i);
            boolean plain = c >= ' '
                    && !Character.isISOControl(c)
                    && Character.getType(c) != Character.FORMAT
                    && c != '\u2028'
                    && c != '\u2029';
            clean.append(plain ? c : '?');
        }
        return text.length() > SHOWN ? clean.append('…').toString() : clean.toString();
    }
}
