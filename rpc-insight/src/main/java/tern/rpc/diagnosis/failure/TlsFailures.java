package tern.rpc.diagnosis.failure;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Determines from the exceptions why a TLS connection failed. The exception for the handshake is the same for all
 * reasons. The reason is in its causes and messages, which come from the JDK, Netty, Apache HttpClient and OkHttp.
 */
final class TlsFailures {

    /**
     * One reason.
     *
     * @param text a part of the message, or of the class name of an exception
     * @param failure the reason in a few words; {@code %s} stands for the first group of the text
     * @param change the recommended change; {@code %s} stands for the peer
     */
    private record Reason(Pattern text, String failure, String change) {

        static Reason of(String regex, String failure, String change) {
            return new Reason(Pattern.compile(regex), failure, change);
        }
    }

    /** The format of the dates in the JDK's messages, such as {@code Mon Nov 30 16:09:13 UTC 2026}. */
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss zzz yyyy", Locale.US);

    private static final String RENEW = "renew the certificate of %s";

    private static final List<Reason> REASONS = List.of(
            Reason.of("CertificateExpiredException: NotAfter: (.+)", "certificate expired on %s", RENEW),
            Reason.of("CertificateExpiredException", "certificate expired", RENEW),
            Reason.of(
                    "CertificateNotYetValidException: NotBefore: (.+)",
                    "certificate not valid before %s",
                    "correct the clock of this machine, or use a certificate of %s that is already valid"),
            Reason.of(
                    "CertificateNotYetValidException",
                    "certificate not yet valid",
                    "correct the clock of this machine, or use a certificate of %s that is already valid"),
            Reason.of("(?i)certificate has been revoked|CertificateRevokedException", "certificate revoked", RENEW),
            Reason.of(
                    "No (?:name|subject alternative DNS name) matching (\\S+) found",
                    "certificate not valid for the name %s",
                    "use a certificate of %s that contains this name, or call it under a name in its certificate"),
            Reason.of(
                    "No subject alternative names matching IP address (\\S+) found",
                    "certificate not valid for the address %s",
                    "use a certificate of %s that contains this address, or call it under a name in its certificate"),
            Reason.of(
                    "(?:Certificate for <|[Hh]ostname )([^>\\s]+)>? (?:doesn't match|not verified)",
                    "certificate not valid for the name %s",
                    "use a certificate of %s that contains this name, or call it under a name in its certificate"),
            Reason.of(
                    "No subject alternative names present",
                    "certificate without host names",
                    "use a certificate of %s that contains its host name or address (subject alternative name)"),
            Reason.of(
                    "unable to find valid certification path|PKIX path building failed|does not chain with any of the"
                            + " trust anchors|trustAnchors parameter must be non-empty|Trust anchor for certification"
                            + " path not found",
                    "certificate of an unknown issuer",
                    "add the issuer of the certificate of %s to the trust store of this process"
                            + " (javax.net.ssl.trustStore, spring.ssl.bundle), or let the peer send its intermediate"
                            + " certificates"),
            Reason.of(
                    "Algorithm constraints check failed",
                    "certificate with a forbidden algorithm",
                    "renew the certificate of %s with a current key and signature algorithm"),
            Reason.of(
                    "(?i)fatal alert: (bad_certificate|certificate_required|unknown_ca|certificate_unknown"
                            + "|certificate_expired|certificate_revoked|unsupported_certificate|access_denied)",
                    "client certificate refused (%s)",
                    "correct the certificate that this process sends to %s: the peer does not accept it, or gets none"),
            Reason.of(
                    "(?i)fatal alert: protocol_version|selected protocol version (?:\\S+) is not accepted|No appropriate"
                            + " protocol|protocol is disabled",
                    "no common TLS version",
                    "enable a TLS version that both this process and %s support (jdk.tls.client.protocols,"
                            + " jdk.tls.disabledAlgorithms)"),
            Reason.of(
                    "(?i)no cipher suites in common|fatal alert: (?:handshake_failure|insufficient_security)",
                    "no common TLS cipher",
                    "enable a cipher that both this process and %s support, or send the client certificate that the"
                            + " peer requires"),
            Reason.of(
                    "(?i)fatal alert: unrecognized_name",
                    "host name unknown to the TLS server",
                    "call %s under a name that its TLS server knows"),
            Reason.of(
                    "Unsupported or unrecognized SSL message|not an SSL/TLS record|plaintext connection\\?",
                    "no TLS at this port",
                    "use http instead of https for %s, or its port for https: it answers without TLS"),
            Reason.of(
                    "Remote host (?:terminated|closed connection during) (?:the )?handshake",
                    "connection closed during the TLS handshake",
                    "find out why %s closes connections during the TLS handshake: its log, a proxy in between, or its"
                            + " TLS settings"));

    private TlsFailures() {}

    /**
     * Returns the reason why a TLS connection failed, for example {@code certificate expired on 2026-11-30}; null if
     * the exceptions do not show it.
     *
     * @param chain the exceptions, each followed by its cause
     */
    static @Nullable String of(List<Throwable> chain) {
        for (Reason reason : REASONS) {
            for (int i = chain.size() - 1; i >= 0; i--) {
                Throwable one = chain.get(i);
                Matcher found = reason.text.matcher(one.getClass().getSimpleName() + ": " + one.getMessage());
                if (found.find()) {
                    String value = found.groupCount() == 0 || found.group(1) == null ? "" : day(found.group(1));
                    return reason.failure.replace("%s", value);
                }
            }
        }
        return null;
    }

    /** Returns the advice for a failure that {@link #of} has named; null for any other failure. */
    static @Nullable String advice(String peer, String failure) {
        for (Reason reason : REASONS) {
            int value = reason.failure.indexOf("%s");
            boolean isSame = value < 0
                    ? failure.equals(reason.failure)
                    : failure.startsWith(reason.failure.substring(0, value))
                            && failure.endsWith(reason.failure.substring(value + 2));
            if (isSame) {
                return reason.change.replace("%s", peer) + ": " + failure;
            }
        }
        return null;
    }

    /** Returns the day of a date in the JDK's format; any other text without change. */
    private static String day(String text) {
        try {
            return ZonedDateTime.parse(text.trim(), DATE)
                    .withZoneSameInstant(ZoneOffset.UTC)
                    .toLocalDate()
                    .toString();
        } catch (DateTimeParseException e) {
            return text;
        }
    }
}
