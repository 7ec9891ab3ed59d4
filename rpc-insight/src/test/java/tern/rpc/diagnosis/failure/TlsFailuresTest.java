package tern.rpc.diagnosis.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;

/** Tests the reasons of failed TLS connections. */
class TlsFailuresTest {

    private static final String CARDS = "GET localhost:9923/cards";

    private static Throwable handshake(Throwable cause) {
        Throwable failure = new SSLHandshakeException("PKIX path validation failed: " + cause);
        failure.initCause(cause);
        return new IllegalStateException("I/O error on GET request", failure);
    }

    private static String reasonOf(Throwable failure) {
        return String.valueOf(TlsFailures.of(Exceptions.chain(failure)));
    }

    private static String adviceOn(Throwable failure) {
        CallLedger ledger = new CallLedger(() -> 0);
        ledger.enter(Phase.HTTP);
        ledger.leave(Phase.OWN, CARDS + " (failed)");
        return FailureText.ofPeer(FailurePart.of(new EndedCall("CardService.check", ledger, 9, 9, failure))
                .name());
    }

    @Test
    void expiredCertificateIsNamedWithItsLastDay() {
        Throwable failure = handshake(new CertPathValidatorException(
                "validity check failed", new CertificateExpiredException("NotAfter: Mon Nov 30 16:09:13 UTC 2026")));

        assertThat(reasonOf(failure)).isEqualTo("certificate expired on 2026-11-30");
        assertThat(adviceOn(failure))
                .isEqualTo("renew the certificate of " + CARDS + ": certificate expired on 2026-11-30");
    }

    @Test
    void certificateThatIsNotYetValidIsNamedWithItsFirstDay() {
        Throwable failure = handshake(new CertificateNotYetValidException("NotBefore: Sat Dec 05 00:00:00 CET 2026"));

        assertThat(reasonOf(failure)).isEqualTo("certificate not valid before 2026-12-04");
        assertThat(adviceOn(failure))
                .startsWith("correct the clock of this machine")
                .contains("2026-12-04");
    }

    @Test
    void dateInAnotherFormatIsNamedAsItIs() {
        assertThat(reasonOf(handshake(new CertificateExpiredException("NotAfter: 2026-11-30 16:09"))))
                .isEqualTo("certificate expired on 2026-11-30 16:09");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "unable to find valid certification path to requested target | certificate of an unknown issuer",
                "No name matching localhost found | certificate not valid for the name localhost",
                "No subject alternative DNS name matching bank found. | certificate not valid for the name bank",
                "No subject alternative names matching IP address 10.0.0.7 found"
                        + " | certificate not valid for the address 10.0.0.7",
                "Certificate for <bank> doesn't match any of the subject alternative names: [shop]"
                        + " | certificate not valid for the name bank",
                "Hostname bank not verified: | certificate not valid for the name bank",
                "Received fatal alert: protocol_version | no common TLS version",
                "No appropriate protocol (protocol is disabled or cipher suites are inappropriate)"
                        + " | no common TLS version",
                "The server selected protocol version TLS10 is not accepted by client preferences [TLS12]"
                        + " | no common TLS version",
                "Received fatal alert: handshake_failure | no common TLS cipher",
                "Received fatal alert: bad_certificate | client certificate refused (bad_certificate)",
                "(certificate_required) Received fatal alert: certificate_required"
                        + " | client certificate refused (certificate_required)",
                "Unsupported or unrecognized SSL message | no TLS at this port",
                "not an SSL/TLS record: 485454502f312e31 | no TLS at this port",
                "Remote host terminated the handshake | connection closed during the TLS handshake",
                "General SSLEngine problem | null",
            })
    void reasonIsReadFromTheMessagesOfManyClients(String message, String reason) {
        Throwable failure = new SSLHandshakeException(message);

        assertThat(reasonOf(new IllegalStateException(failure))).isEqualTo(reason);
        assertThat(reasonOf(handshake(new CertificateException(message)))).isEqualTo(reason);
    }

    @Test
    void adviceNamesOnlyTheReason() {
        assertThat(adviceOn(handshake(new CertificateException("No name matching localhost found"))))
                .isEqualTo("use a certificate of " + CARDS + " that contains this name, or call it under a name in its"
                        + " certificate: certificate not valid for the name localhost");
        assertThat(adviceOn(new SSLHandshakeException("General SSLEngine problem")))
                .startsWith("check the certificate (expired, unknown issuer, wrong name)");
        assertThat(List.of("Connection refused", "SSLHandshakeException"))
                .allMatch(failure -> TlsFailures.advice(CARDS, failure) == null);
    }
}
