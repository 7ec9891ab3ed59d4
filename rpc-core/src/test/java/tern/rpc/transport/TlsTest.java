package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.transport.TestAuthority.Identity;

class TlsTest {

    private final TestAuthority authority = new TestAuthority("authority");

    @Test
    void nothingButSafeProtocolsIsEnabledUnlessChosen() {
        Tls tls = Tls.named("bundle 'x'");

        assertThat(tls.protocols()).containsExactly("TLSv1.3", "TLSv1.2");
        assertThat(tls.clientAuth()).isEqualTo(Tls.ClientAuth.NONE);
        assertThat(tls.certificates()).isEmpty();
    }

    @Test
    void oldProtocolIsRefused() {
        Tls tls = Tls.named("bundle 'x'");

        assertThatThrownBy(() -> tls.withProtocols(List.of("TLSv1.2", "TLSv1.1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bundle 'x' enables the protocols [TLSv1.2, TLSv1.1]; expected some of [TLSv1.3, TLSv1.2]");
        assertThatThrownBy(() -> tls.withProtocols(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void unknownCipherIsRefused() {
        Tls tls = Tls.named("bundle 'x'");

        assertThat(tls.withCiphers(List.of("TLS_AES_128_GCM_SHA256")).ciphers()).hasSize(1);
        assertThatThrownBy(() -> tls.withCiphers(List.of("TLS_AES_128_GCM_SHA265")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'TLS_AES_128_GCM_SHA265'");
    }

    @Test
    void handshakeWithoutTimeIsRefused() {
        assertThatThrownBy(() -> Tls.named("bundle 'x'").withHandshakeTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("handshake timeout PT0S");
    }

    @Test
    void certificateBelongsToTheKey() {
        Identity identity = authority.issue("server", "localhost");

        Tls tls = Tls.named("bundle 'x'").withKeys(identity.keys());

        assertThat(tls.certificates()).containsExactly(identity.certificate());
    }

    @Test
    void keyOfAnotherCertificateIsRefused() {
        Identity before = authority.issue("server", "localhost");
        Identity after = authority.issue("server", "localhost");
        Identity half = new Identity(before.key(), after.certificate());

        assertThatThrownBy(() -> Tls.named("bundle 'x'").withKeys(half.keys()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bundle 'x' has a private key that does not match its certificate for CN=server");
    }
}
