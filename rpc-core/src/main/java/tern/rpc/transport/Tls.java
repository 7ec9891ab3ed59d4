package tern.rpc.transport;

import java.security.KeyManagementException;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings: keys, trusted certificates and rules. The constructor checks keys against their certificates, and
 * rejects insecure protocols and unknown ciphers. Immutable. Transports call a supplier of these settings for every new
 * connection, so keys and trusted certificates can change while connections are open.
 *
 * @param name the source and its setting, for error messages
 * @param keys the keys and certificates of this side, already initialized; null for none
 * @param trust the accepted authorities, already initialized; null for the authorities that Java trusts
 * @param protocols TLSv1.3, TLSv1.2 or both
 * @param ciphers the Java names of the ciphers; empty for Java's defaults
 * @param clientAuth whether servers request or require client certificates; not used by clients
 * @param handshakeTimeout the time limit of the whole handshake
 */
public record Tls(
        String name,
        @Nullable KeyManagerFactory keys,
        @Nullable TrustManagerFactory trust,
        List<String> protocols,
        List<String> ciphers,
        ClientAuth clientAuth,
        Duration handshakeTimeout) {

    /** The permitted protocols. Older protocols are excluded, because they are not secure. */
    private static final List<String> SAFE_PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

    /** Determines whether a server requests or requires a certificate from its clients. */
    public enum ClientAuth {
        NONE,
        /** Requests a certificate, but also accepts clients without a certificate. Rejects an invalid certificate. */
        WANT,
        /** Refuses clients without a certificate. */
        NEED
    }

    public Tls {
        protocols = List.copyOf(protocols);
        ciphers = List.copyOf(ciphers);
        if (protocols.isEmpty() || !SAFE_PROTOCOLS.containsAll(protocols)) {
            throw new IllegalArgumentException(
                    name + " enables the protocols " + protocols + "; expected some of " + SAFE_PROTOCOLS);
        }
        if (!ciphers.isEmpty()) {
            checkCiphers(name, ciphers);
        }
        if (handshakeTimeout.isNegative() || handshakeTimeout.isZero()) {
            throw new IllegalArgumentException(
                    name + " has the handshake timeout " + handshakeTimeout + "; expected more than 0");
        }
        if (keys != null) {
            TlsKeys.check(name, keys);
        }
    }

    /**
     * Creates settings without keys. Such settings use Java's trusted authorities, TLS 1.3 and 1.2, Java's ciphers, no
     * client certificates, and a handshake timeout of 10 seconds.
     */
    public static Tls named(String name) {
        return new Tls(name, null, null, SAFE_PROTOCOLS, List.of(), ClientAuth.NONE, Duration.ofSeconds(10));
    }

    public Tls withKeys(KeyManagerFactory keys) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withTrust(TrustManagerFactory trust) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withProtocols(List<String> protocols) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withCiphers(List<String> ciphers) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withClientAuth(ClientAuth clientAuth) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withHandshakeTimeout(Duration handshakeTimeout) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    /**
     * Returns this side's certificates, without the certificates of the authorities that issued them. Returns an empty
     * list if there are no keys.
     */
    public List<X509Certificate> certificates() {
        return keys == null ? List.of() : TlsKeys.certificates(keys);
    }

    private static void checkCiphers(String name, List<String> ciphers) {
        List<String> known = Arrays.asList(supported().getCipherSuites());
        for (String cipher : ciphers) {
            if (!known.contains(cipher)) {
                throw new IllegalArgumentException(
                        name + " enables the cipher '" + cipher + "', which this Java does not have");
            }
        }
    }

    private static SSLParameters supported() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[0], null);
            return context.getSupportedSSLParameters();
        } catch (NoSuchAlgorithmException | KeyManagementException e) {
            throw new IllegalStateException("this Java has no TLS", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
