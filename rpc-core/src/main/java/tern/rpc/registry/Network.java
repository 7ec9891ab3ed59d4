package tern.rpc.registry;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.settings.InvalidPropertyException;

/**
 * A network specified by a property: an address with a prefix length, or the name of a network interface.
 *
 * @param prefix the network's address, or null if the property names a network interface
 */
record Network(@Nullable InetAddress prefix, int length, String card) {

    private static final Pattern FORM = Pattern.compile("([0-9a-fA-F.:]+)/(\\d{1,3})");

    /** @throws InvalidPropertyException if the text is not a network */
    static Network parse(String text) {
        Matcher form = FORM.matcher(text.trim());
        if (!form.matches()) {
            if (text.indexOf('/') >= 0 || text.isBlank()) {
                throw invalid(text);
            }
            return new Network(null, 0, text.trim());
        }
        try {
            InetAddress prefix = InetAddress.getByName(form.group(1));
            int length = Integer.parseInt(form.group(2));
            if (length > prefix.getAddress().length * Byte.SIZE) {
                throw invalid(text);
            }
            return new Network(prefix, length, "");
        } catch (UnknownHostException e) {
            throw invalid(text);
        }
    }

    private static InvalidPropertyException invalid(String text) {
        return new InvalidPropertyException(
                "rpc.server.advertise.network",
                "'" + text + "'",
                "a network such as 10.1.0.0/16 or the name of a network card such as eth0");
    }

    boolean contains(AdvertisedAddress.CardAddress candidate) {
        if (prefix == null) {
            return candidate.card().equals(card);
        }
        byte[] expected = prefix.getAddress();
        byte[] given = candidate.address().getAddress();
        if (expected.length != given.length) {
            return false;
        }
        for (int bit = 0; bit < length; bit++) {
            int mask = 0x80 >> bit % Byte.SIZE;
            if ((expected[bit / Byte.SIZE] & mask) != (given[bit / Byte.SIZE] & mask)) {
                return false;
            }
        }
        return true;
    }
}
