package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;

/** Identifies the protocol that a peer actually uses if its first bytes do not belong to the expected protocol. */
public final class UnexpectedProtocols {

    /** The value that {@link #protocol} returns for HTTP/1.0 and HTTP/1.1. */
    public static final String HTTP_1 = "HTTP/1.1";

    /** The number of bytes needed to identify most protocols. */
    static final int ENOUGH_BYTES = 5;

    private static final int MAX_SHOWN = 60;
    // the frame type of SETTINGS, the first frame of a server (RFC 9113, section 6.5)
    private static final int SETTINGS = 4;
    private static final int HTTP2_HEADER_BYTES = 9;
    // the protocol version at the beginning of MySQL's handshake, after a packet header of four bytes
    private static final int MYSQL_VERSION = 10;
    private static final short DUBBO_MAGIC = (short) 0xDABB;

    /** The first characters sent by servers of text protocols, each with the name of the protocol. */
    private static final Map<String, String> BANNERS = new LinkedHashMap<>();

    static {
        BANNERS.put("HTTP/", HTTP_1);
        BANNERS.put("SSH-", "SSH");
        BANNERS.put("220 ", "SMTP or FTP");
        BANNERS.put("220-", "SMTP or FTP");
        BANNERS.put("-ERR", "Redis");
        BANNERS.put("-NOA", "Redis");
        BANNERS.put("-DEN", "Redis");
        BANNERS.put("+OK", "POP3 or Redis");
        BANNERS.put("* OK", "IMAP");
        BANNERS.put("RFB ", "VNC");
        BANNERS.put("AMQP", "AMQP");
    }

    private UnexpectedProtocols() {}

    /**
     * Returns the name of the peer's protocol.
     *
     * @param first the first bytes of the connection; not released
     * @return null if the protocol cannot be identified
     */
    public static @Nullable String protocol(ByteBuf first) {
        int start = first.readerIndex();
        int bytes = first.readableBytes();
        if (bytes >= 2 && first.getShort(start) == DUBBO_MAGIC) {
            return "dubbo";
        }
        if (bytes >= 3
                && first.getByte(start) >= 0x14
                && first.getByte(start) <= 0x17
                && first.getByte(start + 1) == 3
                && first.getByte(start + 2) <= 4) {
            return "TLS"; // a TLS record (RFC 8446, section 5.1)
        }
        if (bytes >= HTTP2_HEADER_BYTES
                && first.getUnsignedMedium(start) <= 1 << 14
                && first.getByte(start + 3) == SETTINGS
                && first.getByte(start + 4) == 0
                && first.getInt(start + 5) == 0) {
            return "HTTP/2";
        }
        if (bytes >= ENOUGH_BYTES && first.getByte(start + 3) == 0 && first.getByte(start + 4) == MYSQL_VERSION) {
            return "MySQL";
        }
        for (Map.Entry<String, String> banner : BANNERS.entrySet()) {
            if (beginsWith(first, banner.getKey())) {
                return banner.getValue();
            }
        }
        return null;
    }

    static boolean beginsWith(ByteBuf first, String text) {
        int length = text.length();
        return first.readableBytes() >= length
                && text.contentEquals(first.toString(first.readerIndex(), length, StandardCharsets.US_ASCII));
    }

    /** Returns whether all received bytes are text. If so, the peer does not use a binary protocol. */
    static boolean isText(ByteBuf first) {
        if (first.readableBytes() < ENOUGH_BYTES) {
            return false;
        }
        return first.forEachByte(one -> (one >= ' ' && one < 0x7F) || one == '\r' || one == '\n' || one == '\t') < 0;
    }

    /**
     * Returns text for error messages: the protocol that the peer uses or the bytes that it sent, and the setting to
     * check.
     *
     * @param first the first bytes of the connection; not released
     * @param called the name of the expected protocol, which is the scheme of its addresses
     */
    public static String describe(ByteBuf first, String called) {
        String peer = protocol(first);
        if (peer == null) {
            return "it answered " + shown(first) + ", which is not " + called
                    + "; does this host and port belong to a server with protocol " + called + "?";
        }
        String question = switch (peer) {
            case HTTP_1 ->
                called.equals("tri")
                        ? "is the address an http:// address, or does a proxy in between speak only HTTP/1.1?"
                        : "is the address a tri:// or http:// address?";
            case "HTTP/2" -> "is the address a tri:// one?";
            case "dubbo" -> "is the address a dubbo:// address?";
            case "TLS" -> "is TLS required on this port (set by rpc.client.ssl.bundle)?";
            default -> "are host and port of the address right?";
        };
        return "it answered " + peer + ", not " + called + "; " + question;
    }

    private static String shown(ByteBuf first) {
        int bytes = Math.min(MAX_SHOWN, first.readableBytes());
        return isText(first)
                ? "'"
                        + PeerText.text(first.toString(first.readerIndex(), bytes, StandardCharsets.US_ASCII)
                                .strip())
                        + "'"
                : "the bytes " + ByteBufUtil.hexDump(first, first.readerIndex(), Math.min(16, first.readableBytes()));
    }
}
