package tern.rpc.spring.autoconfigure;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslStoreBundle;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Tls.ClientAuth;

/**
 * Reads the SSL bundles named in properties. Each bundle is validated when it is first used, and watched afterwards. A
 * valid change to a bundle takes effect the next time the TLS settings are read. Thread-safe.
 */
final class TlsBundles {

    private static final Logger LOG = LoggerFactory.getLogger(TlsBundles.class);

    private final ObjectProvider<SslBundles> bundles;
    // the client TLS settings by bundle name
    private final Map<String, Supplier<Tls>> ofClients = new ConcurrentHashMap<>();

    TlsBundles(ObjectProvider<SslBundles> bundles) {
        this.bundles = bundles;
    }

    /**
     * Returns a client's TLS settings. References with the same bundle get the same object, so that they can share
     * connections.
     *
     * @param property the property that names the bundle, for error messages
     */
    Supplier<Tls> ofClient(String property, String bundle) {
        return ofClients.computeIfAbsent(bundle, name -> follow(property, name, tls -> tls));
    }

    /**
     * Returns a server's TLS settings.
     *
     * @param property the property that names the bundle, for error messages
     */
    Supplier<Tls> ofServer(String property, String bundle, ClientAuth clientAuth) {
        if (clientAuth != ClientAuth.NONE) {
            checkTrust(property, bundle, clientAuth);
        }
        return follow(property, bundle, tls -> withKey(tls).withClientAuth(clientAuth));
    }

    private static Tls withKey(Tls tls) {
        if (tls.certificates().isEmpty()) {
            throw new IllegalArgumentException(tls + " has no key with a certificate, which a server needs");
        }
        return tls;
    }

    /**
     * Checks a server's trust store. A bundle without a trust store trusts every public authority, which is appropriate
     * only for clients.
     */
    private void checkTrust(String property, String bundle, ClientAuth clientAuth) {
        SslStoreBundle stores = find(property, bundle).getStores();
        if (stores.getKeyStore() != null && stores.getTrustStore() == null) {
            throw new RpcStartException(
                    "rpc.server.ssl.client-auth is " + clientAuth.name().toLowerCase(Locale.ROOT) + ", but bundle '"
                            + bundle + "' (" + property
                            + ") has no trust store: every client with a certificate of a public authority would be accepted",
                    "Give the bundle a trust store with the authorities that issue the certificates of clients.",
                    null);
        }
    }

    private Supplier<Tls> follow(String property, String bundle, UnaryOperator<Tls> role) {
        String name = "bundle '" + bundle + "' (" + property + ")";
        Followed followed = new Followed(name, role, start(name, find(property, bundle), role));
        bundles.getObject().addBundleUpdateHandler(bundle, followed::changed);
        return followed;
    }

    private SslBundle find(String property, String bundle) {
        SslBundles known = bundles.getIfAvailable();
        if (known == null) {
            throw new InvalidPropertyException(
                    property,
                    property + " names the SSL bundle '" + bundle + "', but this application has no bean of type"
                            + " SslBundles, because Spring Boot's SslAutoConfiguration is not active",
                    "Remove the exclusion of SslAutoConfiguration. In a test slice, add"
                            + " @ImportAutoConfiguration(SslAutoConfiguration.class).",
                    null);
        }
        try {
            return known.getBundle(bundle);
        } catch (NoSuchSslBundleException e) {
            throw new InvalidPropertyException(
                    property, "'" + bundle + "'", "the name of a bundle under spring.ssl.bundle; " + names(known));
        }
    }

    private static String names(SslBundles known) {
        List<String> names = known.getBundleNames().stream().sorted().toList();
        return names.isEmpty() ? "there is none" : "there is " + String.join(", ", names);
    }

    private static Tls start(String name, SslBundle bundle, UnaryOperator<Tls> role) {
        try {
            Tls tls = role.apply(tls(name, bundle));
            for (X509Certificate certificate : tls.certificates()) {
                if (!isValidNow(certificate)) {
                    LOG.warn("{}; peers will refuse it", validity(name, certificate));
                }
            }
            return tls;
        } catch (RuntimeException e) {
            throw new RpcStartException(
                    name + " cannot be used: " + e.getMessage(), "Correct what spring.ssl.bundle sets for it.", e);
        }
    }

    private static Tls tls(String name, SslBundle bundle) {
        Tls tls = Tls.named(name)
                .withKeys(bundle.getManagers().getKeyManagerFactory())
                .withTrust(bundle.getManagers().getTrustManagerFactory());
        String[] protocols = bundle.getOptions().getEnabledProtocols();
        String[] ciphers = bundle.getOptions().getCiphers();
        tls = protocols == null ? tls : tls.withProtocols(List.of(protocols));
        return ciphers == null ? tls : tls.withCiphers(List.of(ciphers));
    }

    private static boolean isValidNow(X509Certificate certificate) {
        try {
            certificate.checkValidity();
            return true;
        } catch (CertificateException e) {
            return false;
        }
    }

    private static String validity(String name, X509Certificate certificate) {
        return "the certificate of " + name + " for " + certificate.getSubjectX500Principal() + " is valid from "
                + certificate.getNotBefore().toInstant() + " to "
                + certificate.getNotAfter().toInstant();
    }

    /** A bundle and the last valid TLS settings read from it. */
    private static final class Followed implements Supplier<Tls> {

        private final String name;
        private final UnaryOperator<Tls> role;
        private volatile Tls current;

        Followed(String name, UnaryOperator<Tls> role, Tls first) {
            this.name = name;
            this.role = role;
            this.current = first;
        }

        @Override
        public Tls get() {
            return current;
        }

        /** Reads the changed bundle. Called on Spring's thread for watching files. */
        void changed(SslBundle bundle) {
            try {
                Tls tls = role.apply(tls(name, bundle));
                for (X509Certificate certificate : tls.certificates()) {
                    if (!isValidNow(certificate)) {
                        throw new IllegalArgumentException(validity(name, certificate));
                    }
                }
                current = tls;
                LOG.info("{} was changed; new connections use the new version", name);
            } catch (RuntimeException e) {
                LOG.error(
                        "{} was changed and cannot be used; new connections keep using the previous version", name, e);
            }
        }
    }
}
