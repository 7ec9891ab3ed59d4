package tern.rpc.registry.dubbo.rules;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.registry.dubbo.Limits;

/**
 * A pattern for addresses in a rule. As in Dubbo 3.3, the forms are {@code host}, {@code host:port}, {@code host:*},
 * {@code 0.0.0.0} for every host, an IPv4 address with {@code *} or a range such as {@code 1-20} instead of a number,
 * and a network such as {@code 10.1.0.0/16}. Names are never looked up.
 *
 * @param form the form of the host
 * @param host the host, the pattern, or the address of the network; an IPv6 address has no brackets
 * @param prefixBits the length of a network's prefix; 0 for the other forms
 * @param port the port, or {@value #ANY_PORT} for every port
 * @param least the lowest value of each number of an IPv4 address, one byte for each; 0 for forms without numbers
 * @param most the highest value of each number of an IPv4 address, one byte for each; 0 for forms without numbers
 */
record AddressPattern(Form form, String host, int prefixBits, int port, int least, int most) {

    static final int ANY_PORT = 0;

    private static final String ANY_HOST = "0.0.0.0";
    private static final String ANY = "*";
    private static final int MAX_PORT = 65_535;
    private static final int MAX_OCTET = 255;
    private static final int OCTETS = 4;
    private static final int OCTET_DIGITS = 3;
    private static final long NOT_IPV4 = -1;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]+");
    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*");
    private static final Pattern OCTET = Pattern.compile("\\d{1,3}");
    private static final Pattern RANGE = Pattern.compile("(\\d{1,3})-(\\d{1,3})");
    private static final Pattern NETWORK = Pattern.compile("([0-9A-Fa-f.:]+)/(\\d{1,3})");

    /** The forms in which a rule can specify hosts. */
    enum Form {
        EVERY_HOST,
        ONE_HOST,
        /** An IPv4 address in which at least one number is replaced by {@code *} or a range. */
        NUMBERS,
        NETWORK
    }

    /**
     * Parses the text of a rule.
     *
     * @throws IllegalArgumentException if the text has none of the known forms
     */
    static AddressPattern parse(String text) {
        String written = text.trim();
        Matcher network = NETWORK.matcher(written);
        if (network.matches()) {
            byte[] address = bytes(network.group(1));
            int bits = Integer.parseInt(network.group(2));
            if (address == null || bits > address.length * Byte.SIZE) {
                throw unknown(text);
            }
            int least = address.length == OCTETS ? (int) ipv4(network.group(1)) & first(bits) : 0;
            int most = address.length == OCTETS ? least | ~first(bits) : 0;
            return new AddressPattern(Form.NETWORK, network.group(1), bits, ANY_PORT, least, most);
        }
        String host = written;
        int port = ANY_PORT;
        int colon = written.lastIndexOf(':');
        if (written.startsWith("[")) {
            int end = written.indexOf(']');
            if (end < 0 || (end < written.length() - 1 && written.charAt(end + 1) != ':')) {
                throw unknown(text);
            }
            host = written.substring(1, end);
            port = end == written.length() - 1 ? ANY_PORT : port(written.substring(end + 2), text);
        } else if (colon >= 0 && written.indexOf(':') == colon) {
            host = written.substring(0, colon);
            port = port(written.substring(colon + 1), text);
        }
        Form form = form(host, text);
        boolean hasNumbers = form == Form.NUMBERS;
        return new AddressPattern(
                form, host, 0, port, hasNumbers ? ends(host, true) : 0, hasNumbers ? ends(host, false) : 0);
    }

    /** Returns an integer in which only the given number of highest bits are set. */
    private static int first(int bits) {
        return bits == 0 ? 0 : -1 << (Integer.SIZE - bits);
    }

    /** Returns the lower or upper limits of the four numbers in an address pattern, one byte for each number. */
    private static int ends(String pattern, boolean isLeast) {
        int ends = 0;
        for (String part : pattern.split("\\.", -1)) {
            Matcher range = RANGE.matcher(part);
            boolean isRange = range.matches();
            int least = part.equals(ANY) ? 0 : Integer.parseInt(isRange ? range.group(1) : part);
            int most = part.equals(ANY) ? MAX_OCTET : Integer.parseInt(isRange ? range.group(2) : part);
            // If the lower limit exceeds 255, the range becomes 255 to 0, and no number is in this range.
            boolean isImpossible = least > MAX_OCTET;
            int end = isLeast ? Math.min(least, MAX_OCTET) : isImpossible ? 0 : Math.min(most, MAX_OCTET);
            ends = ends << Byte.SIZE | end;
        }
        return ends;
    }

    private static int port(String port, String text) {
        if (port.equals(ANY)) {
            return ANY_PORT;
        }
        if (!port.matches("\\d{1,5}") || Integer.parseInt(port) == 0 || Integer.parseInt(port) > MAX_PORT) {
            throw unknown(text);
        }
        return Integer.parseInt(port);
    }

    private static Form form(String host, String text) {
        if (host.equals(ANY_HOST) || host.equals(ANY) || host.equals("*.*.*.*")) {
            return Form.EVERY_HOST;
        }
        List<String> parts = List.of(host.split("\\.", -1));
        boolean isNumeric = parts.size() == OCTETS && parts.stream().allMatch(AddressPattern::isOctetPattern);
        if (isNumeric && !parts.stream().allMatch(part -> OCTET.matcher(part).matches())) {
            return Form.NUMBERS;
        }
        boolean isName = NAME.matcher(host).matches() && host.chars().anyMatch(Character::isLetter);
        if (isName || ipv4(host) != NOT_IPV4 || IPV6.matcher(host).matches()) {
            return Form.ONE_HOST;
        }
        throw unknown(text);
    }

    private static boolean isOctetPattern(String part) {
        Matcher range = RANGE.matcher(part);
        return part.equals(ANY)
                || OCTET.matcher(part).matches()
                || (range.matches() && Integer.parseInt(range.group(1)) <= Integer.parseInt(range.group(2)));
    }

    private static IllegalArgumentException unknown(String text) {
        return new IllegalArgumentException("the address '" + Limits.shown(text) + "' is not understood; expected host,"
                + " host:port, host:*, 0.0.0.0:port, numbers such as 10.1.*.1-20, and networks such as 10.1.0.0/16");
    }

    /** Returns whether this pattern matches all ports of all hosts. */
    boolean isForAll() {
        return form == Form.EVERY_HOST && port == ANY_PORT;
    }

    boolean matches(Endpoint endpoint) {
        return (port == ANY_PORT || port == endpoint.port()) && matchesHost(endpoint.host());
    }

    /** Returns whether the pattern matches the host, regardless of the port. */
    boolean matchesHost(String candidate) {
        return switch (form) {
            case EVERY_HOST -> true;
            case ONE_HOST -> host.equals(candidate);
            case NUMBERS -> hasNumbers(candidate);
            case NETWORK -> isInNetwork(candidate);
        };
    }

    /** Returns whether the pattern matches one of the hosts, regardless of the port. */
    boolean isOneOf(Set<String> hosts) {
        return hosts.stream().anyMatch(this::matchesHost);
    }

    private boolean hasNumbers(String candidate) {
        long address = ipv4(candidate);
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            long number = address >> shift & MAX_OCTET;
            if (number < (least >> shift & MAX_OCTET) || number > (most >> shift & MAX_OCTET)) {
                return false;
            }
        }
        return address != NOT_IPV4;
    }

    private boolean isInNetwork(String candidate) {
        if (host.indexOf(':') < 0) {
            return hasNumbers(candidate);
        }
        byte[] wanted = bytes(host);
        byte[] given = bytes(candidate);
        if (wanted == null || given == null || wanted.length != given.length) {
            return false;
        }
        for (int bit = 0; bit < prefixBits; bit++) {
            int mask = 0x80 >> bit % Byte.SIZE;
            if ((wanted[bit / Byte.SIZE] & mask) != (given[bit / Byte.SIZE] & mask)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the bytes of an IP address, or null if the text is a name. */
    private static byte @Nullable [] bytes(String text) {
        if (!IPV6.matcher(text).matches()) {
            long address = ipv4(text);
            return address == NOT_IPV4
                    ? null
                    : ByteBuffer.allocate(OCTETS).putInt((int) address).array();
        }
        try {
            // The text contains a colon, so it is not a name, and no lookup takes place.
            return InetAddress.getByName(text).getAddress();
        } catch (UnknownHostException e) {
            return null;
        }
    }

    /**
     * Returns an IPv4 address as a number, or {@value #NOT_IPV4} if the text is not an IPv4 address. The text is read
     * without a regular expression, because a rule can have a thousand patterns for thousands of providers.
     */
    private static long ipv4(String text) {
        long address = 0;
        int octets = 1;
        int digits = 0;
        int octet = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= '0' && c <= '9' && digits < OCTET_DIGITS) {
                octet = octet * 10 + c - '0';
                digits++;
            } else if (c == '.' && digits > 0 && octet <= MAX_OCTET && octets < OCTETS) {
                address = address << Byte.SIZE | octet;
                octets++;
                digits = 0;
                octet = 0;
            } else {
                return NOT_IPV4;
            }
        }
        return octets == OCTETS && digits > 0 && octet <= MAX_OCTET ? address << Byte.SIZE | octet : NOT_IPV4;
    }
}
