package tern.rpc.registry.dubbo;

/** Checks the host names and addresses in registry entries. */
final class Hosts {

    private static final int MAX_LENGTH = 255;

    private Hosts() {}

    /**
     * Returns whether all characters of the string are valid in host names and addresses, including IPv6 addresses with
     * a scope.
     */
    static boolean isHost(String text) {
        if (text.isEmpty() || text.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean letterOrDigit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letterOrDigit && ".-_:%".indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }
}
