package tern.rpc.diagnosis.failure;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.account.EndedCall;

/**
 * Recognizes calls that ended before this server answered, because the caller's deadline had passed or the caller had
 * stopped waiting. Also recognizes calls that this server refused to run. The exceptions' messages come from Tern's
 * server and client.
 */
public final class CallerDeadlines {

    /** A part of the server's message about a method that was still running when the deadline of its call passed. */
    private static final String STILL_RUNNING = " was still running after ";

    /** The end of the server's message about a call whose caller has cancelled the call or has disconnected. */
    private static final String LEFT = ": the caller is gone";

    /** A part of the server's message about a call that was refused by its method's limit. */
    private static final String REFUSED = " refused the call: ";

    /**
     * A part of the client's message about a remote call that was made while serving another call, and that timed out
     * because the deadline of the other call had passed.
     */
    private static final String REMAINING = ", the served call";

    /**
     * Matches the place where the limit of a method is set, for example {@code (fixed, set by @RpcMethod of place)}.
     */
    private static final Pattern SET_BY = Pattern.compile("set by ([^()]+)\\)");

    /** Matches the value of a method's limit, and how and where it is set. */
    private static final Pattern FULL = Pattern.compile(" of (\\d+) are running (\\([^()]+\\))");

    /**
     * Matches the time limit of a remote call and the place where it is set, for example {@code 50 ms
     * (rpc.client.timeout)}.
     */
    private static final Pattern LIMIT = Pattern.compile("\\d+ ms \\([^()]+\\)");

    /**
     * Matches a provider's answer, for example {@code OrderService/place at 10.0.0.7:20880: still running after 50 ms}.
     */
    private static final Pattern ANSWERED = Pattern.compile("^(\\S+/\\S+) at \\S+: (.+)", Pattern.DOTALL);

    /** Matches the beginning of a provider's message about a remote call made by the provider itself. */
    private static final Pattern CALL = Pattern.compile("^(?:[A-Z_]+: )?[\\w.$]+/[\\w.$]+\\b");

    /**
     * Matches the client's message about a remote call without an answer, for example {@code OrderService/place: no
     * answer from 10.0.0.7:20880 within 50 ms}.
     */
    private static final Pattern UNANSWERED = Pattern.compile("^(\\S+): no answer from (\\S+) within ");
    /** Matches the simple names of the service and the method of a remote call. */
    private static final Pattern METHOD = Pattern.compile("(?:^|[\\s.])([\\w$]+)/([\\w$]+)\\b");

    /** The text before the origin of a call's deadline in the client's message about a provider's answer. */
    private static final String ORIGIN = "; the call had ";

    private CallerDeadlines() {}

    /**
     * Returns the name of the remote call that was not answered before the deadline of the served call that made it;
     * null if the call failed for another reason.
     */
    public static @Nullable String unanswered(EndedCall call) {
        Throwable failure = call.failure();
        for (Throwable one : failure == null ? List.<Throwable>of() : Exceptions.chain(failure)) {
            Matcher remote = UNANSWERED.matcher(isLate(one) ? message(one) : "");
            if (remote.find() && message(one).contains(REMAINING)) {
                return remote.group(1).replace('/', '.') + " at " + remote.group(2);
            }
        }
        return null;
    }

    /** Returns whether the given failure says that the call exceeded the deadline set by its own caller. */
    static boolean hasPassed(String method, Throwable failure) {
        return isLate(failure)
                && (isAbout(method, failure, STILL_RUNNING) || origin(failure).contains(REMAINING));
    }

    /**
     * Returns whether the given failure says that the caller cancelled the call or disconnected before the deadline.
     */
    public static boolean hasLeft(String method, Throwable failure) {
        return failure instanceof RpcException rpc
                && rpc.code() == StatusCode.CANCELLED
                && isAbout(method, failure, LEFT);
    }

    /**
     * Returns whether the call was refused by its method's limit and therefore did not run. Returns false for a refusal
     * sent by another server.
     */
    public static boolean wasRefused(String method, Throwable failure) {
        return failure instanceof RpcException rpc
                && rpc.code() == StatusCode.RESOURCE_EXHAUSTED
                && isAbout(method, failure, REFUSED);
    }

    /** Returns the place where the exceeded limit is set; null if the failure does not name the place. */
    public static @Nullable String limitOf(Throwable refusal) {
        Matcher place = SET_BY.matcher(message(refusal));
        return place.find() ? place.group(1) : null;
    }

    /**
     * Returns the value of the exceeded limit, and how and where it is set, for example {@code 4 (fixed, set by
     * @RpcMethod of place)}; null if the failure does not contain them.
     */
    public static @Nullable String limitText(Throwable refusal) {
        Matcher full = FULL.matcher(message(refusal));
        return full.find() ? full.group(1) + " " + full.group(2) : null;
    }

    /**
     * Returns whether the provider of a remote call reported that one of its own remote calls timed out. In this case,
     * the provider's own timeout is too short. Returns false if the deadline of the call itself passed at the provider,
     * for example in the provider's queue, or in a remote call that inherited this deadline.
     */
    static boolean isOfProvider(Throwable failure) {
        Matcher answer = ANSWERED.matcher(isLate(failure) ? message(failure) : "");
        return answer.find()
                && CALL.matcher(answer.group(2)).find()
                && !answer.group(2).startsWith(answer.group(1) + ":")
                && !answer.group(2).contains(REMAINING);
    }

    /**
     * Returns the remote method whose own time limit ended the call before the ledger recorded an operation, for
     * example {@code StockService.find}; null if there is none.
     */
    static @Nullable String limitedMethod(Throwable failure) {
        Matcher called = isLate(failure) && limit(List.of(failure)) != null
                ? METHOD.matcher(message(failure))
                : METHOD.matcher("");
        return called.find() ? called.group(1) + "." + called.group(2) : null;
    }

    /**
     * Returns the time limit of a remote call and the place where it is set, for example {@code 50 ms
     * (rpc.client.timeout)}; null if no exception contains it.
     *
     * @param chain the exceptions, each followed by its cause
     */
    static @Nullable String limit(List<Throwable> chain) {
        for (Throwable one : chain) {
            Matcher limit = LIMIT.matcher(isLate(one) ? origin(one) : "");
            if (limit.find() && !origin(one).contains(REMAINING)) {
                return limit.group();
            }
        }
        return null;
    }

    /**
     * Returns the part of an error message that says where the deadline of the call comes from. A message that quotes a
     * provider's answer may name the origins of several deadlines. In this case, the last origin is returned.
     */
    private static String origin(Throwable failure) {
        String message = message(failure);
        return message.substring(Math.max(0, message.lastIndexOf(ORIGIN)));
    }

    private static boolean isLate(Throwable failure) {
        return failure instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED;
    }

    /**
     * Returns whether the failure is a server's message about the given method. The message begins with the service and
     * the method, for example {@code OrderService/place}, followed by the given text.
     */
    private static boolean isAbout(String method, Throwable failure, String text) {
        String message = message(failure);
        return message.startsWith(text, method.length())
                && message.substring(0, method.length()).replace('/', '.').equals(method);
    }

    private static String message(Throwable failure) {
        return failure instanceof RpcException rpc ? rpc.status().description() : "";
    }
}
