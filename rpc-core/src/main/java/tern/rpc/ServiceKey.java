package tern.rpc;

/**
 * Tells apart the exports of one interface.
 *
 * @param interfaceName fully qualified
 * @param group empty when there is none
 * @param version empty when there is none; a missing version, an empty one and {@code 0.0.0} are the same
 */
public record ServiceKey(String interfaceName, String group, String version) {

    /** How "no version" is written on the dubbo protocol (docs/wire-protocol.md 0). */
    public static final String NO_VERSION = "0.0.0";

    public ServiceKey {
        group = group.trim();
        version = version.trim();
        if (version.equals(NO_VERSION)) {
            version = "";
        }
    }

    /** The form of Dubbo's registries: {@code [group/]interface[:version]}. */
    @Override
    public String toString() {
        String key = group.isEmpty() ? interfaceName : group + "/" + interfaceName;
        return version.isEmpty() ? key : key + ":" + version;
    }
}
