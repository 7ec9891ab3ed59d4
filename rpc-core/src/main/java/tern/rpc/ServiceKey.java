package tern.rpc;

/**
 * Identifies one export of an interface.
 *
 * @param interfaceName the fully qualified interface name
 * @param group the group; empty for none
 * @param version the version; empty for none. A missing version, an empty version and {@code 0.0.0} are treated as
 *     equal
 */
public record ServiceKey(String interfaceName, String group, String version) {

    /** The value that means "no version" in the dubbo protocol (docs/wire-protocol.md 0). */
    public static final String NO_VERSION = "0.0.0";

    public ServiceKey {
        group = group.trim();
        version = version.trim();
        if (version.equals(NO_VERSION)) {
            version = "";
        }
    }

    /** Returns the key in the form that Dubbo's registries use: {@code [group/]interface[:version]}. */
    @Override
    public String toString() {
        String key = group.isEmpty() ? interfaceName : group + "/" + interfaceName;
        return version.isEmpty() ? key : key + ":" + version;
    }
}
