package tern.rpc.evidence;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the peers of TCP sockets from {@code /proc/self/net/tcp} and {@code tcp6}. */
final class SocketTable {

    private static final String LISTENING = "0A";
    private static final String LEFT = "08"; // the peer has closed the connection (CLOSE_WAIT)

    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final int HEXADECIMAL = 16;

    /** The number of digits of a word in an address. The bytes of a word are in reverse order. */
    private static final int DIGITS = 8;

    /** The first 24 digits of an IPv4 address that is written as an IPv6 address. */
    private static final String MAPPED = "0000000000000000FFFF0000";

    private SocketTable() {}

    /**
     * The other end of a socket.
     *
     * @param name in words, for example {@code sockets to 10.0.0.7:8080}
     * @param isLeft whether the peer has closed the connection, but this process has not closed the socket
     */
    record Peer(String name, boolean isLeft) {

        /** The peer of a socket that is not in the tables. */
        static final Peer NONE = new Peer("sockets without a TCP connection", false);
    }

    /** Returns the peers by the numbers of the sockets' inodes. */
    static Map<String, Peer> read(Path root) {
        SystemFiles files = new SystemFiles(root);
        List<String[]> rows = List.of("proc/self/net/tcp", "proc/self/net/tcp6").stream()
                .flatMap(path -> files.text(path).lines().skip(1))
                .map(line -> line.strip().split("\\s+"))
                .filter(row -> row.length > INODE)
                .toList();
        Set<String> served = new HashSet<>();
        rows.stream().filter(row -> row[STATE].equals(LISTENING)).forEach(row -> served.add(port(row[LOCAL])));
        Map<String, Peer> peers = new HashMap<>();
        for (String[] row : rows) {
            peers.put(row[INODE], peer(row, served));
        }
        return peers;
    }

    private static Peer peer(String[] row, Set<String> served) {
        boolean isLeft = row[STATE].equals(LEFT);
        if (row[STATE].equals(LISTENING)) {
            return new Peer("listening sockets", false);
        }
        String port = port(row[LOCAL]);
        return new Peer(
                served.contains(port)
                        ? "sockets of clients at port " + decimal(port)
                        : "sockets to " + address(row[REMOTE]) + ":" + decimal(port(row[REMOTE])),
                isLeft);
    }

    private static String port(String end) {
        return end.substring(end.indexOf(':') + 1);
    }

    private static int decimal(String hexadecimal) {
        return Integer.parseInt(hexadecimal, HEXADECIMAL);
    }

    private static String address(String end) {
        String digits = end.substring(0, end.indexOf(':'));
        boolean isMapped = digits.startsWith(MAPPED);
        if (digits.length() == DIGITS || isMapped) {
            return ipv4(digits.substring(digits.length() - DIGITS));
        }
        StringBuilder address = new StringBuilder("[");
        for (int word = 0; word < digits.length(); word += DIGITS) {
            String bytes = reversed(digits.substring(word, word + DIGITS));
            address.append(word == 0 ? "" : ":")
                    .append(Integer.toHexString(decimal(bytes.substring(0, DIGITS / 2))))
                    .append(':')
                    .append(Integer.toHexString(decimal(bytes.substring(DIGITS / 2))));
        }
        return address.append(']').toString().replaceFirst("^\\[(?:0:)+", "[::");
    }

    private static String ipv4(String word) {
        String bytes = reversed(word);
        return decimal(bytes.substring(0, 2)) + "." + decimal(bytes.substring(2, 4)) + "."
                + decimal(bytes.substring(4, 6)) + "." + decimal(bytes.substring(6));
    }

    private static String reversed(String word) {
        return word.substring(6) + word.substring(4, 6) + word.substring(2, 4) + word.substring(0, 2);
    }
}
