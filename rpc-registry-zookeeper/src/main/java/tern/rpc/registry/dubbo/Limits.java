package tern.rpc.registry.dubbo;

/** Limits on entries, because anyone who can reach the registry may write entries (docs/registries.md). */
public final class Limits {

    /** Maximum size of the entry of one instance in bytes, and of a name in characters. */
    public static final int MAX_ENTRY = 64 * 1024;

    /** Maximum number of parameters of one entry. */
    public static final int MAX_KEYS = 256;

    /** Maximum size of the metadata of one application in bytes. This is also ZooKeeper's default limit for a node. */
    public static final int MAX_METADATA = 1024 * 1024;

    /** Maximum number of members in the metadata of one application, which is JSON. */
    static final int MAX_METADATA_MEMBERS = 100_000;

    /** Maximum number of services of one application. */
    static final int MAX_SERVICES = 5_000;

    /** Maximum number of applications that offer one interface. */
    public static final int MAX_APPLICATIONS = 100;

    /** Maximum length of the name of an application or interface, in characters. */
    static final int MAX_NAME = 512;

    private static final int SHOWN = 120;

    private Limits() {}

    static void check(String what, int size, int most) {
        if (size > most) {
            throw new IllegalArgumentException(what + " is " + size + ", more than " + most);
        }
    }

    /** Returns a text from the registry in a form for messages: shortened and without control characters. */
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
