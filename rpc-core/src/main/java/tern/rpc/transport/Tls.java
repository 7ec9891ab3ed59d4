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
 * Keys, trust and rules for TLS, checked when they are put together: a key has to fit its certificate, a protocol has to
 * be a safe one, a cipher has to exist. Immutable. Transports take a supplier of it and look there for every new
 * connection, so keys and trust can change while connections are open.
 *
 * @param name for messages: what it was made from and which setting names that
 * @param keys a server's own certificate, or that of a client which has one; initialized
 * @param trust whose certificates are accepted; initialized, or null for the authorities that Java trusts
 * @param protocols TLSv1.3, TLSv1.2 or both
 * @param ciphers by their names in Java; empty for the usual ones
 * @param clientAuth of a server; clients ignore it
 * @param handshakeTimeout for the whole handshake
 */
public record Tls(
        String name,
        @Nullable KeyManagerFactory keys,
        @Nullable TrustManagerFactory trust,
        List<String> protocols,
        List<String> ciphers,
        ClientAuth clientAuth,
        Duration handshakeTimeout) {

    /** Older ones are broken. */
    private static final List<String> SAFE_PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

    /** Whether a server asks clients for a certificate. */
    public enum ClientAuth {
        NONE,
        /** Asks, and takes clients without one as well; a bad one is refused. */
        WANT,
        /** Refuses clients without one. */
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

    /** No keys, the trust of Java, TLS 1.3 and 1.2, usual ciphers, no certificates of clients, 10 seconds. */
    public static Tls named(String name) {
        return new Tls(name, null, null, SAFE_PROTOCOLS, List.of(), ClientAuth.NONE, Duration.ofSeconds(10));
    }

    public Tls withKeys(KeyManagerFactory replaced) {
        return new Tls(name, replaced, trust, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withTrust(TrustManagerFactory replaced) {
        return new Tls(name, keys, replaced, protocols, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withProtocols(List<String> replaced) {
        return new Tls(name, keys, trust, replaced, ciphers, clientAuth, handshakeTimeout);
    }

    public Tls withCiphers(List<String> replaced) {
        return new Tls(name, keys, trust, protocols, replaced, clientAuth, handshakeTimeout);
    }

    public Tls withClientAuth(ClientAuth replaced) {
        return new Tls(name, keys, trust, protocols, ciphers, replaced, handshakeTimeout);
    }

    public Tls withHandshakeTimeout(Duration replaced) {
        return new Tls(name, keys, trust, protocols, ciphers, clientAuth, replaced);
    }

    /** The certificates to be shown to peers, without those of their authorities; empty if there is no key. */
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
