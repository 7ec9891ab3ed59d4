package tern.rpc.diagnosis.failure;

import java.io.EOFException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.ThrowingLibrary;

/**
 * Determines from the exceptions of HTTP and gRPC clients how another service failed. Each client library formats the
 * status of an answer differently.
 */
final class ClientFailures {

    static final String END_OF_STREAM = "unexpected end of stream";

    /** The gRPC status of a call that exceeded its deadline. */
    private static final String LATE = "DEADLINE_EXCEEDED";

    /** The prefix of the class names of gRPC's exceptions. */
    private static final String GRPC = "io.grpc.Status";

    /**
     * Matches an HTTP status of 400 or higher, at the start of a message or after a word or bracket that usually
     * precedes a status.
     */
    private static final Pattern STATUS = Pattern.compile(
            "(?:^|\\[|\\bhttp(?:/\\d(?:\\.\\d)?)?[ :]{1,2}|\\bstatus(?: ?code)?\\W{1,3}|\\bcode\\W{1,3})([45]\\d\\d)\\b",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern GRPC_STATUS = Pattern.compile("^([A-Z_]{2,20})(?::|$)");

    /** Messages of HTTP clients, in lower case, for a peer that closed the connection before the end of its answer. */
    private static final List<String> ENDS =
            List.of("unexpected end of", "premature eof", "premature end of", "received no bytes", "unexpected eof");

    /** Messages of HTTP clients, in lower case, that gave up following redirects. */
    private static final List<String> REDIRECTS = List.of(
            "circular redirect",
            "maximum redirects",
            "max redirects exceeded",
            "redirected too many",
            "too many follow-up requests");

    /**
     * The maximum number of characters of a message to search. A message may contain the body of an answer, but the
     * status is near its beginning.
     */
    private static final int MAX_LENGTH = 1_000;

    private ClientFailures() {}

    /**
     * Returns the failure of another service that the given exception reports, such as {@code HTTP status 503}; null if
     * it reports none.
     *
     * @param isOfHttpClient whether the class of the exception is known to belong to an HTTP client
     */
    static @Nullable String of(Throwable failure, boolean isOfHttpClient) {
        Kind library = isOfHttpClient ? Kind.HTTP : ThrowingLibrary.of(failure);
        if (library == Kind.HTTP) {
            return ofHttp(failure);
        }
        String status = library == Kind.RPC ? grpcStatus(failure) : null;
        return LATE.equals(status) ? null : status;
    }

    private static @Nullable String ofHttp(Throwable failure) {
        String message = message(failure);
        Matcher status = STATUS.matcher(message);
        if (status.find()) {
            return "HTTP status " + status.group(1);
        }
        String lower = message.toLowerCase(Locale.ROOT);
        if (REDIRECTS.stream().anyMatch(lower::contains)) {
            return "redirects without end";
        }
        return failure instanceof EOFException || ENDS.stream().anyMatch(lower::contains) ? END_OF_STREAM : null;
    }

    /** Returns whether the exception says that a gRPC call exceeded its deadline. */
    static boolean isLate(Throwable failure) {
        return LATE.equals(grpcStatus(failure));
    }

    private static @Nullable String grpcStatus(Throwable failure) {
        Matcher status = GRPC_STATUS.matcher(message(failure));
        return failure.getClass().getName().startsWith(GRPC) && status.find() ? status.group(1) : null;
    }

    private static String message(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return message.substring(0, Math.min(MAX_LENGTH, message.length()));
    }
}
