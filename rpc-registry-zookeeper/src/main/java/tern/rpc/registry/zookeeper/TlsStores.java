package tern.rpc.registry.zookeeper;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * Passes keys and trusted certificates to the ZooKeeper client, which reads them only from files. The files are in a
 * directory that only the process owner can read. The files are protected by a random password and are deleted when the
 * registry is closed. Thread-safe.
 */
final class TlsStores implements AutoCloseable {

    private static final String STORE_TYPE = "PKCS12";
    private static final int PASSWORD_BYTES = 16;
    private static final String[] KEY_TYPES = {"EC", "RSA", "RSASSA-PSS", "EdDSA", "DSA"};

    private final Supplier<Tls> tls;
    private final Path directory;
    private final Path keys;
    private final Path trust;
    private final String password;
    private @Nullable Tls written; // guarded by this

    TlsStores(Supplier<Tls> tls) {
        this.tls = tls;
        byte[] random = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(random);
        this.password = HexFormat.of().formatHex(random);
        try {
            this.directory = Files.createTempDirectory("rpc-zookeeper-tls");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.keys = directory.resolve("keys.p12");
        this.trust = directory.resolve("trust.p12");
        // A killed process leaves the files behind. Nobody can read them, because the random password existed only in
        // the memory of the process.
        directory.toFile().deleteOnExit();
        keys.toFile().deleteOnExit();
        trust.toFile().deleteOnExit();
        refresh();
    }

    /**
     * Writes the files again if keys or trusted certificates have changed. The client reads them for each connection.
     */
    synchronized void refresh() {
        Tls current = tls.get();
        if (current.equals(written)) {
            return;
        }
        try {
            KeyManagerFactory own = current.keys();
            write(keys, own == null ? emptyStore() : keyStore(own));
            TrustManagerFactory authorities = current.trust();
            if (authorities != null) {
                write(trust, trustStore(authorities));
            }
            written = current;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(current + " cannot be passed to ZooKeeper: " + e.getMessage(), e);
        }
    }

    /** Sets the client's TLS properties. */
    void applyTo(ZKClientConfig config) {
        Tls current = tls.get();
        try (ClientX509Util names = new ClientX509Util()) {
            if (!current.certificates().isEmpty()) {
                config.setProperty(names.getSslKeystoreLocationProperty(), keys.toString());
                config.setProperty(names.getSslKeystorePasswdProperty(), password);
                config.setProperty(names.getSslKeystoreTypeProperty(), STORE_TYPE);
            }
            if (current.trust() != null) {
                config.setProperty(names.getSslTruststoreLocationProperty(), trust.toString());
                config.setProperty(names.getSslTruststorePasswdProperty(), password);
                config.setProperty(names.getSslTruststoreTypeProperty(), STORE_TYPE);
            }
            config.setProperty(names.getSslEnabledProtocolsProperty(), String.join(",", current.protocols()));
            if (!current.ciphers().isEmpty()) {
                config.setProperty(names.getCipherSuitesProperty(), String.join(",", current.ciphers()));
            }
        }
    }

    private KeyStore keyStore(KeyManagerFactory own) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        for (KeyManager manager : own.getKeyManagers()) {
            if (manager instanceof X509KeyManager known) {
                for (String type : KEY_TYPES) {
                    String[] aliases = known.getClientAliases(type, null);
                    for (String alias : aliases == null ? new String[0] : aliases) {
                        store.setKeyEntry(
                                alias,
                                known.getPrivateKey(alias),
                                password.toCharArray(),
                                known.getCertificateChain(alias));
                    }
                }
            }
        }
        return store;
    }

    private static KeyStore trustStore(TrustManagerFactory authorities) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        int number = 0;
        for (TrustManager manager : authorities.getTrustManagers()) {
            if (manager instanceof X509TrustManager known) {
                for (X509Certificate certificate : known.getAcceptedIssuers()) {
                    store.setCertificateEntry("authority-" + number++, certificate);
                }
            }
        }
        return store;
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(STORE_TYPE);
        store.load(null, null);
        return store;
    }

    /** Replaces a file atomically, because the client might read it at the same time. */
    private void write(Path file, KeyStore store) throws IOException, GeneralSecurityException {
        Path next = directory.resolve("next");
        try (OutputStream out =
                Files.newOutputStream(next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
            store.store(out, password.toCharArray());
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public synchronized void close() {
        try {
            Files.deleteIfExists(keys);
            Files.deleteIfExists(trust);
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
