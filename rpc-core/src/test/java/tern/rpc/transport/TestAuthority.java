package tern.rpc.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.security.auth.x500.X500Principal;

/** Issues certificates for tests, and encodes them without a library (RFC 5280, 4.1). */
public final class TestAuthority {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final byte[] ECDSA_WITH_SHA256 =
            sequence(new byte[] {6, 8, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 4, 3, 2});
    private static final byte[] TRUE = {1, 1, (byte) 0xFF};
    private static final byte[] BASIC_CONSTRAINTS = {6, 3, 0x55, 0x1D, 19};
    private static final byte[] ALTERNATIVE_NAMES = {6, 3, 0x55, 0x1D, 17};
    private static final char[] PASSWORD = "test".toCharArray();
    private static final AtomicLong SERIAL = new AtomicLong(1);

    private final KeyPair keys = newKeys();
    private final X500Principal name;
    private final X509Certificate certificate;

    public record Identity(PrivateKey key, X509Certificate certificate) {

        public KeyManagerFactory keys() {
            try {
                KeyStore store = emptyStore();
                store.setKeyEntry("own", key, PASSWORD, new X509Certificate[] {certificate});
                KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                factory.init(store, PASSWORD);
                return factory;
            } catch (GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }

        public String keyPem() {
            return pem("PRIVATE KEY", key.getEncoded());
        }

        public String certificatePem() {
            return TestAuthority.certificatePem(certificate);
        }
    }

    public TestAuthority(String name) {
        this.name = new X500Principal("CN=" + name);
        this.certificate = certificate(this.name, keys, Instant.now(), Duration.ofDays(1), authority());
    }

    /** @param hosts the names and addresses for which the certificate is valid */
    public Identity issue(String subject, String... hosts) {
        return issue(subject, Instant.now(), hosts);
    }

    public Identity issueExpired(String subject, String... hosts) {
        return issue(subject, Instant.now().minus(Duration.ofDays(10)), hosts);
    }

    private Identity issue(String subject, Instant when, String... hosts) {
        KeyPair pair = newKeys();
        byte[] extensions = hosts.length == 0 ? new byte[0] : alternativeNames(hosts);
        return new Identity(
                pair.getPrivate(),
                certificate(new X500Principal("CN=" + subject), pair, when, Duration.ofDays(1), extensions));
    }

    /** Returns a trust manager that trusts only this authority. */
    public TrustManagerFactory trust() {
        try {
            KeyStore store = emptyStore();
            store.setCertificateEntry("authority", certificate);
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory;
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    public String certificatePem() {
        return certificatePem(certificate);
    }

    private static String certificatePem(X509Certificate certificate) {
        try {
            return pem("CERTIFICATE", certificate.getEncoded());
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String pem(String kind, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
    }

    private static KeyStore emptyStore() throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try {
            store.load(null, null);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return store;
    }

    private static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** Creates a certificate that is valid from one hour before the given time. */
    private X509Certificate certificate(
            X500Principal subject, KeyPair pair, Instant when, Duration valid, byte[] extension) {
        byte[] content = sequence(
                tagged(0xA0, new byte[] {2, 1, 2}),
                tagged(2, BigInteger.valueOf(SERIAL.getAndIncrement()).toByteArray()),
                ECDSA_WITH_SHA256,
                name.getEncoded(),
                sequence(time(when.minus(Duration.ofHours(1))), time(when.plus(valid))),
                subject.getEncoded(),
                pair.getPublic().getEncoded(),
                extension.length == 0 ? extension : tagged(0xA3, sequence(extension)));
        try {
            Signature signing = Signature.getInstance("SHA256withECDSA");
            signing.initSign(keys.getPrivate());
            signing.update(content);
            byte[] signature = tagged(3, joined(new byte[] {0}, signing.sign()));
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(sequence(content, ECDSA_WITH_SHA256, signature)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] authority() {
        return sequence(BASIC_CONSTRAINTS, TRUE, tagged(4, sequence(TRUE)));
    }

    private static byte[] alternativeNames(String... hosts) {
        byte[][] names = new byte[hosts.length][];
        for (int i = 0; i < hosts.length; i++) {
            names[i] = alternativeName(hosts[i]);
        }
        return sequence(ALTERNATIVE_NAMES, tagged(4, sequence(names)));
    }

    private static byte[] alternativeName(String host) {
        if (!Character.isDigit(host.charAt(0))) {
            return tagged(0x82, host.getBytes(StandardCharsets.US_ASCII));
        }
        try {
            return tagged(0x87, InetAddress.getByName(host).getAddress());
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] time(Instant instant) {
        return tagged(0x18, TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] sequence(byte[]... parts) {
        return tagged(0x30, joined(parts));
    }

    private static byte[] tagged(int tag, byte[] content) {
        int length = content.length;
        byte[] head = {(byte) tag, (byte) length};
        if (length > 255) {
            head = new byte[] {(byte) tag, (byte) 0x82, (byte) (length >>> 8), (byte) length};
        } else if (length > 127) {
            head = new byte[] {(byte) tag, (byte) 0x81, (byte) length};
        }
        return joined(head, content);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
