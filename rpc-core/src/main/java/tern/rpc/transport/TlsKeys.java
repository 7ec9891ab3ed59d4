package tern.rpc.transport;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;

/** Checks the keys of key managers. Each private key must match its certificate. */
final class TlsKeys {

    /** The names of key types that key managers and certificates use. */
    private static final List<String> KINDS = List.of("RSA", "RSASSA-PSS", "EC", "EdDSA", "DSA");

    /** The signature algorithms of the common key types. */
    private static final Map<String, String> SIGNATURES =
            Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

    private static final byte[] SIGNED = {1, 2, 3};

    private TlsKeys() {}

    static List<X509Certificate> certificates(KeyManagerFactory keys) {
        List<X509Certificate> certificates = new ArrayList<>();
        for (KeyManager manager : keys.getKeyManagers()) {
            if (manager instanceof X509KeyManager known) {
                aliases(known).forEach(alias -> certificates.add(known.getCertificateChain(alias)[0]));
            }
        }
        return certificates;
    }

    /**
     * Checks that each private key matches its certificate.
     *
     * @throws IllegalArgumentException if a key does not match its certificate, for example because only one of two
     *     files was changed
     */
    static void check(String name, KeyManagerFactory keys) {
        for (KeyManager manager : keys.getKeyManagers()) {
            if (manager instanceof X509KeyManager known) {
                for (String alias : aliases(known)) {
                    check(name, known.getCertificateChain(alias)[0], known.getPrivateKey(alias));
                }
            }
        }
    }

    private static Set<String> aliases(X509KeyManager manager) {
        Set<String> aliases = new LinkedHashSet<>();
        for (String kind : KINDS) {
            String[] some = manager.getServerAliases(kind, null);
            if (some != null) {
                aliases.addAll(List.of(some));
            }
        }
        aliases.removeIf(alias -> {
            X509Certificate[] chain = manager.getCertificateChain(alias);
            return chain == null || chain.length == 0;
        });
        return aliases;
    }

    private static void check(String name, X509Certificate certificate, @Nullable PrivateKey key) {
        String algorithm = SIGNATURES.get(certificate.getPublicKey().getAlgorithm());
        if (key == null || algorithm == null) {
            return; // the key is not checked, because it cannot be read or its type is uncommon
        }
        boolean fits;
        try {
            Signature signing = Signature.getInstance(algorithm);
            signing.initSign(key);
            signing.update(SIGNED);
            Signature verifying = Signature.getInstance(algorithm);
            verifying.initVerify(certificate.getPublicKey());
            verifying.update(SIGNED);
            fits = verifying.verify(signing.sign());
        } catch (GeneralSecurityException e) {
            fits = false; // the key does not match, because its type or size differs from that of the certificate's key
        }
        if (!fits) {
            throw new IllegalArgumentException(name + " has a private key that does not match its certificate for "
                    + certificate.getSubjectX500Principal());
        }
    }
}
