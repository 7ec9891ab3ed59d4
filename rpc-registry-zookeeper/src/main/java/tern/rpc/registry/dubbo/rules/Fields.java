package tern.rpc.registry.dubbo.rules;

import java.util.Set;
import tern.rpc.endpoint.Instance;

/** The provider attributes that conditions can refer to. */
final class Fields {

    static final Set<String> NAMES = Set.of("host", "port", "address", "zone", "dubbo.tag", "tag");

    private Fields() {}

    static String of(Instance provider, String name) {
        return switch (name) {
            case "host" -> provider.endpoint().host();
            case "port" -> String.valueOf(provider.endpoint().port());
            case "address" -> provider.endpoint().toString();
            case "zone" -> provider.attributes().zone();
            default -> provider.attributes().tag();
        };
    }

    /** Returns whether {@link #matches} supports the pattern. As in Dubbo, a pattern has at most one {@code *}. */
    static boolean isPattern(String text) {
        return text.indexOf('*') == text.lastIndexOf('*');
    }

    /**
     * Returns whether the string matches the pattern. The pattern can contain one {@code *}, which matches any
     * characters.
     */
    static boolean matches(String pattern, String text) {
        int star = pattern.indexOf('*');
        if (star < 0) {
            return pattern.equals(text);
        }
        String before = pattern.substring(0, star);
        String after = pattern.substring(star + 1);
        return text.length() >= before.length() + after.length() && text.startsWith(before) && text.endsWith(after);
    }
}
