package tern.rpc.diagnosis.failure;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.diagnosis.account.OperationNames;

/**
 * Finds the operations that the messages of exceptions mention. A call may run several operations of one kind, and the
 * operation that failed is often not the longest.
 */
final class Mentions {

    /** Matches the address in the message of an HTTP client, and the method before it if there is one. */
    private static final Pattern REQUEST =
            Pattern.compile("(?:\\b([A-Z]{3,7}) request for )?\"?\\bhttps?://(?:[^/@\\s]*@)?([^\\s\"?#]+)");

    /** Only the first {@value} characters of a message are searched, because it may contain the body of an answer. */
    private static final int MAX_SEARCHED = 1_000;

    private Mentions() {}

    /**
     * Returns the length of the longest mention of the operation in the messages; 0 if no message mentions it. If the
     * messages mention several names, the longest name is the most exact one.
     *
     * @param chain the exceptions, each followed by its cause
     */
    static int of(List<Throwable> chain, NamedTimes.Entry operation) {
        String name = OperationNames.withoutStatus(operation.name());
        int longest = 0;
        for (Throwable one : chain) {
            longest = Math.max(longest, mentions(one, operation.kind(), name) ? name.length() : 0);
        }
        return longest;
    }

    private static boolean mentions(Throwable failure, Phase phase, String name) {
        String text = failure instanceof RpcException rpc ? rpc.status().description() : failure.getMessage();
        if (text == null) {
            return false;
        }
        String message = text.substring(0, Math.min(text.length(), MAX_SEARCHED));
        return switch (phase) {
            case RPC -> FailedPeer.isAbout(message, name);
            case HTTP -> isRequested(message, name);
            case SQL -> !name.equals(NamedTimes.OTHERS) && message.contains(name);
            default -> false;
        };
    }

    /** Returns whether the message contains the address of the exchange, for example {@code GET stock:8080/levels}. */
    private static boolean isRequested(String message, String exchange) {
        int end = exchange.indexOf(' ');
        Matcher request = REQUEST.matcher(message);
        while (end > 0 && request.find()) {
            String method = request.group(1);
            String address = exchange.substring(end + 1);
            boolean isAddress = isWithin(request.group(2), address)
                    || isWithin(request.group(2), address.replaceFirst(":(?:80|443)(?=/|$)", ""));
            if (isAddress && (method == null || method.equals(exchange.substring(0, end)))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWithin(String requested, String address) {
        return requested.startsWith(address)
                && (requested.length() == address.length() || requested.charAt(address.length()) == '/');
    }
}
