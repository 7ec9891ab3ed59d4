package tern.rpc.load.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The key and certificate that the compared frameworks use for TLS. The first process that needs them creates both with
 * the JDK's {@code keytool}. A system property passes the path of their file to the other processes.
 */
final class RunCertificate {

    private static final String PROPERTY = "tern.load.certificate";
    private static final String PASSWORD = "peers-of-a-run";
    private static final String ALIAS = "peer";

    private RunCertificate() {}

    /** Returns the JVM flag that makes another process use this certificate. */
    static String flag() {
        return "-D" + PROPERTY + "=" + file();
    }

    /** Returns the key and certificate for a server. */
    static KeyManagerFactory keys() {
        try {
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store(), PASSWORD.toCharArray());
            return keys;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a trust manager that trusts only this certificate. */
    static TrustManagerFactory trust() {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry(ALIAS, store().getCertificate(ALIAS));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            return trust;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static KeyStore store() {
        try (InputStream in = Files.newInputStream(Path.of(file()))) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, PASSWORD.toCharArray());
            return store;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static synchronized String file() {
        String known = System.getProperty(PROPERTY);
        if (known != null) {
            return known;
        }
        try {
            Path directory = Files.createTempDirectory("peers");
            Path made = directory.resolve("certificate.p12");
            make(made);
            made.toFile().deleteOnExit();
            // The JVM deletes registered paths in reverse order, so it deletes the directory after the file.
            directory.toFile().deleteOnExit();
            System.setProperty(PROPERTY, made.toString());
            return made.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void make(Path store) throws IOException {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=dns:localhost,ip:127.0.0.1",
                        "-validity",
                        "2",
                        "-alias",
                        ALIAS,
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (keytool.waitFor() != 0) {
                throw new IOException("keytool made no certificate: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
