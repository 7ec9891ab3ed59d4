package tern.rpc.netty;

import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Tls;

/** Explains a TLS failure: names the check that failed, the certificate and the setting to change. */
final class TlsFailure {

    /** Matches Java's messages about a certificate that was issued for another host. */
    private static final String OTHER_HOST = "No (subject alternative|name matching).*";

    private TlsFailure() {}

    /** Returns the explanation for a client's log and failed calls. */
    static String atClient(Throwable cause, Endpoint endpoint, Tls tls) {
        String server =
                endpoint.name().equals(endpoint.host()) ? endpoint.toString() : endpoint.name() + " at " + endpoint;
        return "TLS with " + server + " failed, " + reason(cause, endpoint, tls);
    }

    private static String reason(Throwable cause, Endpoint endpoint, Tls tls) {
        if (find(cause, NotSslRecordException.class) != null) {
            return "the server does not use TLS on this port (rpc.server.ssl.bundle there, or leave out " + tls
                    + " here)";
        }
        if (find(cause, SslHandshakeTimeoutException.class) != null) {
            return "the handshake took longer than " + tls.handshakeTimeout().toMillis() + " ms";
        }
        if (find(cause, ClosedChannelException.class) != null) {
            return "the server closed the connection during the handshake; it may not use TLS on this port";
        }
        String certificate = badCertificate(cause, endpoint, tls);
        if (certificate != null) {
            return certificate;
        }
        String words = inWords(cause);
        return words.contains("fatal alert")
                ? "the server refused: " + words
                        + "; its log has the reason. The client's certificate, if any, comes from " + tls
                : words + " (with " + tls + ")";
    }

    private static @Nullable String badCertificate(Throwable cause, Endpoint endpoint, Tls tls) {
        if (find(cause, CertificateExpiredException.class) != null
                || find(cause, CertificateNotYetValidException.class) != null) {
            return "the certificate of the server is not valid today: " + inWords(cause);
        }
        if (find(cause, CertPathBuilderException.class) != null) {
            return "the certificate of the server was not issued by an authority that " + tls + " trusts: "
                    + inWords(cause);
        }
        CertificateException bad = find(cause, CertificateException.class);
        if (bad == null) {
            return null;
        }
        String words = inWords(bad);
        return words.matches("(?s)" + OTHER_HOST)
                ? "the certificate of the server is not for " + endpoint.name()
                        + ", the host in its address (set for instance by rpc.client.url): " + words
                : "the certificate of the server is refused by " + tls + ": " + words;
    }

    /**
     * Returns the message of the innermost cause on one line, because the messages of the outer exceptions only repeat
     * it. The message can contain text from the peer's certificate.
     */
    static String inWords(Throwable cause) {
        String words = cause.toString();
        int depth = 0;
        for (Throwable inner = cause; inner != null && depth < 16; inner = inner.getCause(), depth++) {
            if (inner.getMessage() != null) {
                words = inner.getMessage();
            }
        }
        return PeerText.text(words);
    }

    /** Returns the first exception of the given type in the chain of causes; null if there is none. */
    static <T extends Throwable> @Nullable T find(Throwable cause, Class<T> type) {
        int depth = 0;
        for (Throwable inner = cause; inner != null && depth < 16; inner = inner.getCause(), depth++) {
            if (type.isInstance(inner)) {
                return type.cast(inner);
            }
        }
        return null;
    }
}
