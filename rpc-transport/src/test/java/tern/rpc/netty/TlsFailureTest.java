package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.cert.CertificateException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class TlsFailureTest {

    @Test
    void textOfACertificateStaysOnItsLine() {
        SSLHandshakeException failure = new SSLHandshakeException("refused");
        failure.initCause(new CertificateException("not trusted: CN=a\n2026-01-01 ERROR forged"));

        assertThat(TlsFailure.inWords(failure)).isEqualTo("not trusted: CN=a\\n2026-01-01 ERROR forged");
    }
}
