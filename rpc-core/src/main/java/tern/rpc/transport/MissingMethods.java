package tern.rpc.transport;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import tern.rpc.NanoClock;
import tern.rpc.Pace;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.TypingErrors;

/**
 * Creates the exception for a call to a method that the service does not have. The message is the same on every
 * protocol.
 */
public final class MissingMethods {

    private static final int MAX_NAMES = 10;

    /** The maximum number of characters of a name that are compared. Callers choose the length of the name. */
    private static final int MAX_COMPARED = 32;

    /** The maximum number of methods of a service whose names are compared, because the comparison is slow. */
    private static final int MAX_RANKED = 30;

    /**
     * The maximum number of refusals per second with a comparison of names. Requests with unknown names are refused on
     * event loops, before any other limit applies. Comparing 30 names takes longer than a small call.
     */
    private static final int RANKED_PER_SECOND = 50;

    private static final Pace RANKED = new Pace(RANKED_PER_SECOND, Duration.ofSeconds(1), NanoClock.SYSTEM);

    private record Near(String name, int errors) {}

    private MissingMethods() {}

    /**
     * Returns the exception for a missing method. The message lists the names of the service's methods. The most
     * similar names come first, unless the service has many methods or many calls to missing methods arrive.
     */
    public static RpcException refusal(ServiceDescriptor service, String name) {
        return refusal(service, name, RANKED);
    }

    /** @param ranked limits how often the called name is compared with the names of the service's methods */
    static RpcException refusal(ServiceDescriptor service, String name, Pace ranked) {
        return RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                service.name() + " has no method " + PeerText.name(name) + "; it has " + names(service, name, ranked),
                Executed.NO);
    }

    private static String names(ServiceDescriptor service, String name, Pace ranked) {
        List<String> all = service.methodNames();
        boolean isRanked = all.size() > 1 && all.size() <= MAX_RANKED && ranked.take();
        List<String> names = isRanked ? nearestFirst(all, compared(name)) : all;
        String text = String.join(", ", names.subList(0, Math.min(names.size(), MAX_NAMES)));
        return names.size() > MAX_NAMES ? text + " and " + (names.size() - MAX_NAMES) + " more" : text;
    }

    private static List<String> nearestFirst(List<String> names, String written) {
        return names.stream()
                .map(name -> new Near(name, TypingErrors.between(compared(name), written)))
                .sorted(Comparator.comparingInt(Near::errors).thenComparing(Near::name))
                .map(Near::name)
                .toList();
    }

    private static String compared(String name) {
        return name.substring(0, Math.min(name.length(), MAX_COMPARED)).toLowerCase(Locale.ROOT);
    }
}
