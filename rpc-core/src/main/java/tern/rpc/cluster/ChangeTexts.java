package tern.rpc.cluster;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import tern.rpc.endpoint.EndpointSnapshot;

/** Log messages about changes of providers and provider lists. */
final class ChangeTexts {

    private ChangeTexts() {}

    /** Returns the log message for a state change of a source's provider list. */
    static String changed(
            String source, String service, EndpointSnapshot before, EndpointSnapshot now, long lastedNanos) {
        String named = source.isEmpty() ? "an empty list" : source;
        String why = now.why().isEmpty() ? "" : ": " + now.why();
        String was = ", after " + time(lastedNanos) + " as " + before.state();
        int size = now.instances().size();
        return "The list of " + service + " from " + named + " is " + now.state()
                + switch (now.state()) {
                    case FRESH -> was + "; it has " + size + " providers";
                    case STALE -> why + "; the last " + size + " providers stay";
                    case EMPTY -> why + was;
                    case UNKNOWN -> why + "; no provider is known yet";
                };
    }

    /**
     * Returns the log message about providers that cannot be reached.
     *
     * @param count the number of providers
     * @param example one of them, with the reason
     */
    static String notConnected(String source, String service, int count, String example) {
        String from = service + " from " + (source.isEmpty() ? "an empty list" : source);
        return count == 1
                ? "1 provider of " + from + " is not connected: " + example
                : count + " providers of " + from + " are not connected, for example " + example;
    }

    /** Returns the first service name and the number of other services. */
    static String services(List<String> services) {
        long others = services.stream().distinct().count() - 1;
        return services.get(0) + (others <= 0 ? "" : " and " + others + (others == 1 ? " other" : " others"));
    }

    /** Formats a duration for log messages: {@code 120 ms}, {@code 1.5 s} or {@code 12 s}. */
    static String time(long nanos) {
        double seconds = nanos / 1e9;
        return seconds < 1
                ? TimeUnit.NANOSECONDS.toMillis(nanos) + " ms"
                : String.format(Locale.ROOT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    }
}
