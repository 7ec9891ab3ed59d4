package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import java.util.concurrent.TimeUnit;

/** Encodes and decodes the {@code grpc-timeout} header: at most eight digits and a unit (docs/wire-protocol.md 3.2). */
final class GrpcTimeout {

    private static final int MAX_DIGITS = 8;
    private static final long MAX_SENT = 100_000_000;
    private static final long MAX_NANOS = TimeUnit.DAYS.toNanos(365);

    private GrpcTimeout() {}

    /**
     * @return the timeout in nanoseconds, at most a year
     * @throws IllegalArgumentException if the header value is invalid; the exception's message gives the reason
     */
    static long parseNanos(CharSequence text) {
        int digits = text.length() - 1;
        if (digits < 1 || digits > MAX_DIGITS) {
            throw wrong(text);
        }
        long amount = 0;
        for (int i = 0; i < digits; i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9') {
                throw wrong(text);
            }
            amount = amount * 10 + (digit - '0');
        }
        TimeUnit unit = switch (text.charAt(digits)) {
            case 'n' -> TimeUnit.NANOSECONDS;
            case 'u' -> TimeUnit.MICROSECONDS;
            case 'm' -> TimeUnit.MILLISECONDS;
            case 'S' -> TimeUnit.SECONDS;
            case 'M' -> TimeUnit.MINUTES;
            case 'H' -> TimeUnit.HOURS;
            default -> throw wrong(text);
        };
        return Math.min(unit.toNanos(amount), MAX_NANOS);
    }

    private static IllegalArgumentException wrong(CharSequence text) {
        CharSequence start = text.length() <= 20 ? text : text.subSequence(0, 20) + "…";
        return new IllegalArgumentException("grpc-timeout is '" + start
                + "'; expected 1 to 8 digits and a unit, one of n, u, m, S, M and H, as in 250m");
    }

    /**
     * Rounds the time down by less than a thousandth. Consecutive calls with the same timeout then usually have the
     * same header value, such as 2999 milliseconds for three seconds.
     */
    static long rounded(long nanos) {
        long grain = 1;
        while (grain <= nanos / 10_000) {
            grain *= 10;
        }
        return nanos - nanos % grain;
    }

    /**
     * Formats the time in the smallest unit that needs at most eight digits. The minimum is one nanosecond, and the
     * maximum is 99,999,999 minutes.
     */
    static AsciiString format(long nanos) {
        if (nanos < MAX_SENT) {
            return text(Math.max(1, nanos), 'n');
        }
        if (nanos / 1_000 < MAX_SENT) {
            return text(nanos / 1_000, 'u');
        }
        if (nanos / 1_000_000 < MAX_SENT) {
            return text(nanos / 1_000_000, 'm');
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos);
        if (seconds < MAX_SENT) {
            return text(seconds, 'S');
        }
        // A long can represent 292 years in nanoseconds. Eight digits can represent only 190 years in minutes.
        return text(Math.min(TimeUnit.SECONDS.toMinutes(seconds), MAX_SENT - 1), 'M');
    }

    private static AsciiString text(long amount, char unit) {
        byte[] text = new byte[digits(amount) + 1];
        text[text.length - 1] = (byte) unit;
        long rest = amount;
        for (int i = text.length - 2; i >= 0; i--) {
            text[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return new AsciiString(text, false);
    }

    private static int digits(long amount) {
        int digits = 1;
        for (long rest = amount / 10; rest > 0; rest /= 10) {
            digits++;
        }
        return digits;
    }
}
