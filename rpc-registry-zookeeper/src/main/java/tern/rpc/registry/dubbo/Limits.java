package tern.rpc.registry.dubbo;

/** Limits of entries, which anybody may write who reaches the registry (docs/registries.md). */
public final class Limits {

    /** The most bytes of the entry of one instance, and the most characters of a name. */
    public static final int MAX_ENTRY = 64 * 1024;

    /** The most parameters of one entry. */
    public static final int MAX_KEYS = 256;

    /** The most bytes of the metadata of one application. It is the default limit of a node in ZooKeeper. */
    public static final int MAX_METADATA = 1024 * 1024;

    /** The most members of the JSON of the metadata of one application. */
    static final int MAX_METADATA_MEMBERS = 100_000;

    /** The most services of one application. */
    static final int MAX_SERVICES = 5_000;

    /** The most applications that offer one interface. */
    public static final int MAX_APPLICATIONS = 100;

    /** The most characters of the name of an application or interface. */
    static final int MAX_NAME = 512;

    private static final int SHOWN = 120;

    private Limits() {}

    static void check(String what, int size, int most) {
        if (size > most) {
            throw new IllegalArgumentException(what + " is " + size + ", more than " + most);
        }
    }

    /** A text of the registry for messages: without control characters, and shortened. */
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
