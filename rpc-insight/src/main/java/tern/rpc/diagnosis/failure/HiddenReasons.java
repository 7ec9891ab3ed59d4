package tern.rpc.diagnosis.failure;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;

/**
 * Finds the reason for a timeout if the reason is not the cause of the timeout's exception. Some clients try to connect
 * until the timeout, and report the last failure in the message, in a suppressed exception, or in the next exception of
 * an {@link SQLException}.
 */
final class HiddenReasons {

    private static final int MAX_SUPPRESSED = 4;

    /**
     * @param text a part of a message
     * @param failure the failure that this part shows
     */
    private record Mention(String text, String failure) {}

    private static final String REFUSED = "Connection refused";
    static final String UNRESOLVED = "name cannot be resolved";
    private static final String NO_TOPIC = "no metadata of the topic";

    private static final List<Mention> MENTIONS = List.of(
            new Mention(REFUSED, REFUSED),
            new Mention("No route to host", "No route to host"),
            new Mention("Network is unreachable", "Network is unreachable"),
            new Mention("UnknownHostException", UNRESOLVED),
            new Mention("not present in metadata after", NO_TOPIC), // Kafka
            new Mention("has passed since batch creation", "does not answer"), // Kafka
            new Mention("Unexpected end of stream", ClientFailures.END_OF_STREAM), // Jedis
            new Mention("Connection closed", ClientFailures.END_OF_STREAM), // Lettuce
            new Mention("Currently not connected", ClientFailures.END_OF_STREAM), // Lettuce
            new Mention("MongoSecurityException", "login refused"));

    private HiddenReasons() {}

    /** Returns the failure that led to the timeout in the given exceptions; null if they show none. */
    static @Nullable String of(List<Throwable> chain) {
        for (Throwable one : chain) {
            String reason = ofMessage(one);
            for (Throwable hidden : hidden(one)) {
                reason = reason == null ? ofHidden(hidden) : reason;
            }
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    private static List<Throwable> hidden(Throwable failure) {
        List<Throwable> hidden = new ArrayList<>();
        Throwable[] suppressed = failure.getSuppressed();
        for (int i = 0; i < suppressed.length && i < MAX_SUPPRESSED; i++) {
            hidden.add(suppressed[i]);
        }
        if (failure instanceof SQLException sql && sql.getNextException() != null) {
            hidden.add(sql.getNextException());
        }
        return hidden;
    }

    private static @Nullable String ofHidden(Throwable hidden) {
        String condition = DatabaseConditions.of(Exceptions.chain(hidden));
        if (condition != null) {
            return condition;
        }
        if (hidden instanceof UnknownHostException) {
            return UNRESOLVED;
        }
        if (Exceptions.isConnectTimeOut(hidden)) {
            return Part.NOT_ACCEPTED;
        }
        String message = ofMessage(hidden);
        boolean refused = hidden instanceof ConnectException && !(hidden instanceof NoRouteToHostException);
        return message == null && refused ? REFUSED : message;
    }

    private static @Nullable String ofMessage(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        for (Mention mention : MENTIONS) {
            if (message.contains(mention.text)) {
                return mention.failure;
            }
        }
        return null;
    }
}
