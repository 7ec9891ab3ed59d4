package tern.rpc.diagnosis.failure;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.pool.ApplicationCode;

/** Reads exceptions of failed calls: their kind, their name without values from the call, and their line of code. */
public final class Exceptions {

    private static final int MAX_CAUSES = 8;

    /**
     * Error messages of the operating system and the JVM that describe the problem and contain no values from a call.
     */
    private static final List<String> KNOWN_TEXTS = List.of(
            "Connection refused",
            "Connection reset",
            "Broken pipe",
            "No route to host",
            "Network is unreachable",
            "Connection timed out",
            "Socket closed",
            "Closed by interrupt",
            "Connection pool shut down",
            "Address already in use",
            "Cannot assign requested address",
            "Too many open files",
            "No space left on device",
            "Read-only file system",
            "Permission denied",
            "unable to create native thread",
            "Java heap space",
            "GC overhead limit exceeded",
            "Metaspace",
            "Compressed class space",
            "Requested array size exceeds VM limit",
            "Direct buffer memory",
            "of direct memory",
            "Too many connections",
            "Lock wait timeout exceeded",
            "Out of memory",
            "remaining connection slots are reserved",
            "max number of clients reached");

    /** The text that separates the exception from the line of code in the name of a failure. */
    static final String IN = " in ";

    /** The SQL state of a statement that was cancelled because it took too long, or because a user asked for it. */
    private static final String CANCELLED = "57014";

    /** A text that messages of drivers and of the JDK contain if an answer has not arrived in time. */
    private static final String READ_TIMEOUT = "read timed out";

    static final String FULL_FILES = "Too many open files";

    /** The message of OkHttp's exception for a call that exceeded the time limit for whole calls. */
    private static final String OKHTTP_TIMEOUT = "timeout";

    private Exceptions() {}

    /** Returns the exception and its causes, outermost first. */
    public static List<Throwable> chain(Throwable failure) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable next = failure; next != null && chain.size() < MAX_CAUSES; next = next.getCause()) {
            chain.add(next);
        }
        return chain;
    }

    /** Returns whether a rollback threw the exception of the database driver. */
    static boolean isOfRollback(List<Throwable> chain) {
        return chain.stream()
                .anyMatch(one -> one instanceof SQLException
                        && Stream.of(one.getStackTrace())
                                .anyMatch(frame -> frame.getMethodName().equals("rollback")));
    }

    /**
     * Returns the innermost exception that shows an exhausted limit of this process, such as the limit on open files;
     * null if there is none. The innermost exception is decisive, because clients wrap it in the same exceptions as a
     * failure of their peer. Only JDK and Netty exceptions count, because the message of a client's exception may
     * contain the answer of a peer.
     */
    static @Nullable Throwable ofOwnLimit(List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            Throwable one = chain.get(i);
            String type = one.getClass().getName();
            boolean isFull = one instanceof IOException
                    && FULL_FILES.equals(known(one))
                    && (type.startsWith("java.") || type.startsWith("io.netty."));
            if (isFull || one instanceof OutOfMemoryError) {
                return one;
            }
        }
        return null;
    }

    /** Returns whether a client could not connect to its peer in time. */
    static boolean isConnectTimeOut(Throwable failure) {
        String message = failure.getMessage();
        String lower = message == null ? "" : message.toLowerCase(Locale.ROOT);
        String type = failure.getClass().getSimpleName();
        return type.equals("ConnectTimeoutException")
                || type.equals("HttpConnectTimeoutException")
                || (type.endsWith("TimeoutException") && lower.contains("connect timed out"))
                || (failure instanceof ConnectException && lower.contains("timed out"));
    }

    /** Returns whether a timeout ended the operation that threw the exception. */
    public static boolean isTimeOut(Throwable failure) {
        String type = failure.getClass().getSimpleName();
        return (failure instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED)
                || ClientFailures.isLate(failure)
                || type.endsWith("TimeoutException")
                || type.equals("TransactionTimedOutException")
                || (failure instanceof InterruptedIOException && OKHTTP_TIMEOUT.equals(failure.getMessage()))
                || (failure instanceof SQLException sql && isTimeOut(sql));
    }

    /**
     * Returns whether the statement was cancelled, or whether the driver's read timeout has passed. After a read
     * timeout, the driver closes the connection and reports it as lost. Some drivers name the timeout only in the
     * message.
     */
    private static boolean isTimeOut(SQLException failure) {
        return CANCELLED.equals(failure.getSQLState())
                || String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains(READ_TIMEOUT);
    }

    /** Returns whether the exception shows a programming error or an error of the JVM. */
    static boolean isMistake(Throwable failure) {
        return failure instanceof Error
                || failure instanceof NullPointerException
                || failure instanceof ClassCastException
                || failure instanceof IndexOutOfBoundsException
                || failure instanceof NumberFormatException
                || failure instanceof ArithmeticException;
    }

    /**
     * Returns the word {@code in} and the innermost line of application code. If a library's recursion is so deep that
     * the stack trace contains no application code, returns the library's line. Returns an empty string if there is no
     * line.
     */
    static String in(List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            StackTraceElement frame = ApplicationCode.first(chain.get(i).getStackTrace());
            if (frame != null) {
                return IN + ApplicationCode.shown(frame);
            }
        }
        return chain.stream()
                .filter(one -> one instanceof StackOverflowError && one.getStackTrace().length > 0)
                .findFirst()
                .map(one -> IN + ApplicationCode.shown(one.getStackTrace()[0]))
                .orElse("");
    }

    /** Returns the name of the exception's class, with its known text if there is one. */
    public static String named(Throwable failure) {
        String known = known(failure);
        String code = failure instanceof RpcException rpc ? " " + rpc.code() : "";
        return failure.getClass().getSimpleName() + code + (known == null ? "" : " (" + known + ")");
    }

    /**
     * Returns the reason why the JDK's HTTP client could not connect; null for any other failure. After a refused
     * attempt, the client tries again on the closed channel, and reports only the second failure, which has no message.
     */
    static @Nullable String whileConnecting(List<Throwable> chain, int innermost) {
        boolean isWithin = chain.get(innermost) instanceof ClosedChannelException
                && innermost > 0
                && chain.get(innermost - 1) instanceof ConnectException;
        boolean isItself = chain.get(innermost) instanceof ConnectException
                && chain.get(innermost).getMessage() == null;
        if (!isWithin && !isItself) {
            return null;
        }
        boolean isUnknown = chain.stream().anyMatch(UnresolvedAddressException.class::isInstance);
        return isUnknown ? HiddenReasons.UNRESOLVED : "Connection refused";
    }

    /** Returns the reason why a peer could not be reached: a known text, or the name of the exception's class. */
    static String text(Throwable failure) {
        String known = known(failure);
        if (known != null) {
            return known;
        }
        return failure instanceof UnknownHostException
                ? HiddenReasons.UNRESOLVED
                : failure.getClass().getSimpleName();
    }

    /** Returns the known text that the exception's message contains; null if it contains none. */
    static @Nullable String known(Throwable failure) {
        String message = failure.getMessage();
        if (message != null) {
            String lower = message.toLowerCase(Locale.ROOT);
            for (String text : KNOWN_TEXTS) {
                if (lower.contains(text.toLowerCase(Locale.ROOT))) {
                    return text;
                }
            }
        }
        return null;
    }
}
