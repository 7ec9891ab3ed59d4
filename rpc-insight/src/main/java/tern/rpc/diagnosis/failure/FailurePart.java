package tern.rpc.diagnosis.failure;

import java.net.ConnectException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.SqlStates;

/**
 * Determines which activity or wait of a call, or which exception, explains the call's failure. The name of the result
 * contains no values from the call, such as ids.
 */
public final class FailurePart {

    /** The name of a failure at a deadline set by the caller. */
    public static final String DEADLINE = "deadline of the caller";

    /** The simple names of exceptions that end a wait for a connection, with the ledger phases of these waits. */
    private static final Map<String, Phase> POOL_TIMEOUTS = Map.of(
            "GetConnectionTimeoutException", Phase.JDBC_CONNECTION,
            "PoolExhaustedException", Phase.JDBC_CONNECTION, // Tomcat JDBC
            "SQLTransientConnectionException", Phase.JDBC_CONNECTION,
            "CannotGetJdbcConnectionException", Phase.JDBC_CONNECTION,
            "JedisExhaustedPoolException", Phase.REDIS_CONNECTION,
            "ConnectionRequestTimeoutException", Phase.HTTP_CONNECTION,
            "ConnectionPoolTimeoutException", Phase.HTTP_CONNECTION,
            "PoolAcquireTimeoutException", Phase.HTTP_CONNECTION,
            "PoolAcquirePendingLimitException", Phase.HTTP_CONNECTION);

    /** Fragments of the messages of clients that have no free connection, with the ledger phases of these waits. */
    private static final Map<String, Phase> POOL_MESSAGES = Map.of(
            "Connection acquisition timed out", Phase.JDBC_CONNECTION, // R2DBC
            "Cannot get a connection, pool", Phase.JDBC_CONNECTION, // DBCP2
            "attempt by a client to checkout a Connection has timed out", Phase.JDBC_CONNECTION, // c3p0
            "Sorry, acquisition timeout", Phase.JDBC_CONNECTION, // Agroal
            // message of the AWS SDK's HTTP client based on Netty
            "Acquire operation took longer than", Phase.HTTP_CONNECTION,
            "Max requests queued per destination", Phase.HTTP_CONNECTION, // Jetty
            "Max requests per destination", Phase.HTTP_CONNECTION,
            "too many concurrent streams", Phase.HTTP_CONNECTION); // the JDK's message for a full HTTP/2 connection

    /** Part of the error message of a Redis client whose connection pool has no free connection. */
    private static final String NO_RESOURCE = "Could not get a resource";

    /** The start of the file name in the stack frame that the client adds to a provider's exception. */
    private static final String ON_PROVIDER = "on ";

    private static final String FILE_CHANNEL = "sun.nio.ch.FileChannelImpl";

    /** The JDK's messages for sockets that this process has closed. */
    private static final Set<String> CLOSED_HERE = Set.of("Socket closed", "Closed by interrupt");

    private static final Pattern REDIS_ERROR = Pattern.compile("\\b([A-Z]{3,12})\\b");

    private FailurePart() {}

    /**
     * Returns the activity, wait or exception that explains the call's failure. Returns null if the call did not fail.
     * Also returns null for a timeout, because the activities and waits of the call show its reason better than the
     * exception.
     */
    public static @Nullable Part of(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null) {
            return null;
        }
        if (failure instanceof ErrorStatus answer) {
            return new Part(Kind.FAILURE, "status " + answer.status() + " of " + call.method());
        }
        List<Throwable> chain = Exceptions.chain(failure);
        Throwable limit = Exceptions.ofOwnLimit(chain);
        if (limit != null && ofProvider(chain) == null) {
            return new Part(Kind.FAILURE, Exceptions.named(limit) + Exceptions.in(chain));
        }
        Part peer = ofPeer(call, chain);
        if (peer != null) {
            return peer;
        }
        LocalRefusals.Limiter limiter = LocalRefusals.of(failure);
        if (limiter != null && ofProvider(chain) == null) {
            return LocalRefusals.part(limiter, chain, Exceptions.in(chain));
        }
        if (Exceptions.isOfRollback(chain)) {
            // A rollback fails because the connection is closed, and its exception hides the exception of the
            // statement.
            return ofFailedStatement(call);
        }
        String condition = condition(chain);
        if (condition != null) {
            return failing(FailedPeer.name(call, chain), condition);
        }
        for (Throwable one : chain) {
            Phase pool = waitedFor(one);
            if (pool != null) {
                Part named = FailedPeer.longest(call, pool);
                return named != null ? named : Account.part(pool, "");
            }
            if (one instanceof RejectedExecutionException) {
                return Rejections.part(chain, Exceptions.in(chain));
            }
            if (Exceptions.isTimeOut(one)) {
                return null;
            }
        }
        Part thrown = ofProvider(chain);
        return thrown != null ? thrown : ofStore(call, chain);
    }

    /**
     * Returns the reason why a database did not serve the call, or why a client could not reach a peer in time. Returns
     * null if the exceptions show no such reason. The exception for a pool's timeout often has the reason as its cause.
     * The exception for a client's timeout often contains the reason only in its message.
     */
    private static @Nullable String condition(List<Throwable> chain) {
        boolean waited = false;
        boolean late = false;
        for (Throwable one : chain) {
            boolean atPool = waitedFor(one) != null;
            waited |= atPool;
            late |= !atPool && Exceptions.isTimeOut(one);
        }
        String hidden = waited || late ? HiddenReasons.of(chain) : null;
        // if the connection was lost because of a slow statement, the statement is the cause
        return hidden != null || late ? hidden : DatabaseConditions.of(chain);
    }

    /**
     * Returns the part of the call's time that represents its failed statement; null if all statements were only slow.
     */
    private static @Nullable Part ofFailedStatement(EndedCall call) {
        return call.ledger().named().stream()
                .filter(entry -> entry.kind() == Phase.SQL && OperationNames.isFailing(entry.name()))
                .findFirst()
                .map(entry -> ofOperation(entry.kind(), entry.name()))
                .orElse(null);
    }

    /**
     * Returns the part of a call's time that a failed operation took. The exception of the operation is not known,
     * because application code handled it.
     *
     * @param name the operation's name, which contains the failure
     */
    public static Part ofOperation(Phase phase, String name) {
        String code = OperationNames.errorCode(name);
        String condition = DatabaseConditions.ofState(code);
        return switch (phase) {
            case SQL ->
                condition != null
                        ? failing("database", condition)
                        : new Part(
                                Kind.FAILURE,
                                "SQLException" + (code.isEmpty() ? "" : " " + code) + " of "
                                        + OperationNames.withoutStatus(name));
            case RPC -> failing(OperationNames.withoutStatus(name), code.isEmpty() ? "calls fail" : code);
            case REDIS -> failing("Redis", code.isEmpty() ? "commands fail" : "answers " + code);
            default -> new Part(Kind.HTTP, name);
        };
    }

    /**
     * Returns whether the application's own code is the only known reason for the failure. Returns false if the reason
     * is a peer, a pool, an executor, a timeout, or an error of the database, the JVM or the operating system. Also
     * returns false for programming errors, such as a NullPointerException. Application code often throws its own
     * exception because an operation took too long.
     */
    public static boolean isOfOwnCode(EndedCall call) {
        Throwable failure = call.failure();
        Part part = of(call);
        return failure != null
                && part != null
                && part.kind() == Kind.FAILURE
                && Exceptions.chain(failure).stream()
                        .noneMatch(one -> one instanceof SQLException
                                || Exceptions.known(one) != null
                                || Exceptions.isMistake(one));
    }

    /**
     * Returns whether the call failed because this process has reached a limit, such as the number of open files, or
     * has run out of memory.
     */
    public static boolean isOfOwnLimit(EndedCall call) {
        Throwable failure = call.failure();
        List<Throwable> chain = failure == null ? List.of() : Exceptions.chain(failure);
        return Exceptions.ofOwnLimit(chain) != null && ofProvider(chain) == null;
    }

    /** Returns the phase of the operation that failed ({@link FailedPeer#phase}); null if the call did not fail. */
    public static @Nullable Phase phase(EndedCall call) {
        Throwable failure = call.failure();
        return failure == null ? null : FailedPeer.phase(call, Exceptions.chain(failure));
    }

    /**
     * Returns whether the exception was thrown in the given method of the application, or in code that the method
     * called.
     */
    public static boolean passesThrough(EndedCall call, String method) {
        Throwable failure = call.failure();
        return failure != null
                && Exceptions.chain(failure).stream()
                        .flatMap(one -> Stream.of(one.getStackTrace()))
                        .anyMatch(frame -> ApplicationCode.method(frame).equals(method));
    }

    /**
     * Returns the part of a call's time that represents an exception of a provider's service; null if no exception in
     * the chain came from a provider. The client adds a frame with the called method and the provider's address to an
     * exception from a provider.
     */
    private static @Nullable Part ofProvider(List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            for (StackTraceElement frame : chain.get(i).getStackTrace()) {
                String file = frame.getFileName();
                if (file != null && file.startsWith(ON_PROVIDER)) {
                    String method = ApplicationCode.method(frame);
                    return failing(
                            method + " at " + file.substring(ON_PROVIDER.length()), Exceptions.named(chain.get(i)));
                }
            }
        }
        return null;
    }

    /**
     * Returns the ledger phase of the connection wait that failed with the given exception, or null if the exception
     * did not end a connection wait.
     */
    private static @Nullable Phase waitedFor(Throwable failure) {
        String message = failure.getMessage();
        boolean exhausted = message != null && message.contains(NO_RESOURCE);
        if (exhausted && FailedPeer.isOfRedis(failure)) {
            return Phase.REDIS_CONNECTION;
        }
        for (Map.Entry<String, Phase> known : POOL_MESSAGES.entrySet()) {
            if (message != null && message.contains(known.getKey())) {
                return known.getValue();
            }
        }
        return POOL_TIMEOUTS.get(failure.getClass().getSimpleName());
    }

    /**
     * If the call failed because application code stopped waiting for a result, for example {@code Future.get} with a
     * timeout, returns the line of this code; otherwise null.
     */
    public static @Nullable String givenUpIn(EndedCall call) {
        Throwable failure = call.failure();
        List<Throwable> chain = failure == null ? List.of() : Exceptions.chain(failure);
        // The cause of a client's exception may also be a TimeoutException, but the client has then set the time limit.
        boolean isOfCode =
                chain.stream().anyMatch(one -> one.getClass() == TimeoutException.class) && operation(chain) == null;
        return isOfCode ? placeOf(call) : null;
    }

    /** Returns the line of application code in which the call failed; null if it is unknown. */
    public static @Nullable String placeOf(EndedCall call) {
        Throwable failure = call.failure();
        String place = failure == null ? "" : Exceptions.in(Exceptions.chain(failure));
        return place.isEmpty() ? null : place.substring(Exceptions.IN.length());
    }

    /**
     * Returns the operation whose timeout ended the call. If there is no such operation, returns a part of the call's
     * time that is named after the code that gave up. Returns null for a call that did not fail because of a timeout.
     */
    public static @Nullable Part timedOut(EndedCall call) {
        Throwable failure = call.failure();
        if (failure == null || of(call) != null) {
            return null;
        }
        List<Throwable> chain = Exceptions.chain(failure);
        if (chain.stream().anyMatch(one -> CallerDeadlines.hasPassed(call.method(), one))) {
            return new Part(Kind.TIMEOUT, DEADLINE);
        }
        Throwable timeout =
                chain.stream().filter(Exceptions::isTimeOut).findFirst().orElse(failure);
        boolean deadline = timeout instanceof RpcException;
        Phase phase = deadline ? Phase.RPC : operation(chain);
        NamedTimes.Entry longest = Stream.concat(call.ledger().named().stream(), call.ledger().unfinished().stream())
                .filter(entry -> phase == null ? isOperation(entry.kind()) : entry.kind() == phase)
                .max(Comparator.<NamedTimes.Entry>comparingInt(entry -> Mentions.of(chain, entry))
                        .thenComparingLong(NamedTimes.Entry::nanos))
                .orElse(null);
        if (longest != null && (phase != null || 2 * longest.nanos() >= call.tookNanos())) {
            return Account.part(longest.kind(), OperationNames.withoutStatus(longest.name()));
        }
        NamedTimes.Entry awaited = phase == null ? WaitLimits.awaited(call, chain) : null;
        if (awaited != null) {
            return Account.part(awaited.kind(), OperationNames.withoutStatus(awaited.name()));
        }
        String limited = deadline ? CallerDeadlines.limitedMethod(timeout) : null;
        if (limited != null) {
            return new Part(Kind.RPC, limited);
        }
        return new Part(Kind.TIMEOUT, deadline ? DEADLINE : Exceptions.named(timeout) + Exceptions.in(chain));
    }

    /**
     * Returns the time limit that ended a remote call, and the place where it is set; null if no time limit ended a
     * remote call.
     */
    public static @Nullable String limit(EndedCall call) {
        Throwable failure = call.failure();
        return failure == null ? null : CallerDeadlines.limit(Exceptions.chain(failure));
    }

    /**
     * Returns the kind of operation that throws one of the given exceptions; null if operations of several kinds throw
     * such exceptions.
     */
    private static @Nullable Phase operation(List<Throwable> chain) {
        // Redis is checked first, because Spring wraps Redis exceptions in its database exceptions.
        if (chain.stream().anyMatch(FailedPeer::isOfRedis)) {
            return Phase.REDIS;
        }
        if (chain.stream().anyMatch(FailedPeer::isOfHttp)) {
            return Phase.HTTP;
        }
        return chain.stream().anyMatch(FailedPeer::isOfDatabase) ? Phase.SQL : null;
    }

    static boolean isOperation(Phase phase) {
        return phase == Phase.SQL || phase == Phase.REDIS || phase == Phase.HTTP || phase == Phase.RPC;
    }

    /**
     * Returns the part of a call's time that represents a failure in the network or in another service. Returns null
     * for any other failure.
     */
    private static @Nullable Part ofPeer(EndedCall call, List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            Throwable one = chain.get(i);
            if (Exceptions.isConnectTimeOut(one)) {
                return failing(FailedPeer.name(call, chain), Part.NOT_ACCEPTED);
            }
            if (isOfNetwork(one)) {
                String connecting = Exceptions.whileConnecting(chain, i);
                String tls = one instanceof SSLException ? TlsFailures.of(chain) : null;
                String known = tls != null ? tls : connecting;
                return failing(FailedPeer.name(call, chain), known == null ? Exceptions.text(one) : known);
            }
        }
        String unreadable = UnreadableAnswers.of(call, chain);
        if (unreadable != null) {
            String exchange = UnreadableAnswers.exchange(call, chain);
            return failing(exchange == null ? FailedPeer.name(call, chain) : exchange, unreadable);
        }
        for (Throwable one : chain) {
            String answer = ClientFailures.of(one, FailedPeer.isOfHttp(one));
            if (answer != null) {
                return failing(FailedPeer.name(call, chain), answer);
            }
            boolean calledOne = call.ledger().count(Phase.RPC) > 0;
            if (one instanceof RpcException rpc
                    && (rpc.code() != StatusCode.DEADLINE_EXCEEDED || CallerDeadlines.isOfProvider(rpc))
                    && calledOne
                    && !isThrownByApplication(rpc)) {
                Part remote = FailedPeer.failedCall(call, rpc);
                return failing(
                        remote != null ? OperationNames.withoutStatus(remote.name()) : FailedPeer.name(call, chain),
                        rpc.code().name());
            }
        }
        return null;
    }

    /**
     * Returns whether the network or a peer may be the reason for the given exception. Returns false if this process
     * itself has closed a channel by interrupting the thread that used it, or has closed a socket that one of its
     * threads used. Also returns false for the channel of a file, because it has no peer.
     */
    private static boolean isOfNetwork(Throwable failure) {
        if (failure instanceof ClosedChannelException) {
            return !(failure instanceof ClosedByInterruptException)
                    && Stream.of(failure.getStackTrace())
                            .noneMatch(frame -> frame.getClassName().equals(FILE_CHANNEL));
        }
        return failure instanceof ConnectException
                || failure instanceof UnknownHostException
                || failure instanceof SSLException
                || (failure instanceof SocketException && !CLOSED_HERE.contains(Exceptions.text(failure)))
                || failure.getClass().getSimpleName().equals("NoHttpResponseException");
    }

    /**
     * Returns whether application code created the given exception. Services, for example, create exceptions for their
     * own failures. The client adds the provider's frame to an exception sent by a provider.
     */
    private static boolean isThrownByApplication(RpcException failure) {
        StackTraceElement[] frames = failure.getStackTrace();
        if (frames.length == 0 || !ApplicationCode.owns(frames[0].getClassName())) {
            return false;
        }
        return Stream.of(frames)
                .map(StackTraceElement::getFileName)
                .noneMatch(file -> file != null && file.startsWith(ON_PROVIDER));
    }

    private static Part failing(String peer, String failure) {
        return new Part(Kind.PEER_FAILS, peer + ": " + failure);
    }

    /**
     * Returns the failure of the call. If a database or Redis reported an error, the failure's name contains this
     * error. For any other failure, the name contains the exception and the application's innermost stack frame.
     */
    private static Part ofStore(EndedCall call, List<Throwable> chain) {
        for (Throwable one : chain) {
            if (one instanceof SQLException sql) {
                String state = SqlStates.of(sql.getSQLState(), sql.getMessage());
                Part statement = FailedPeer.failedStatement(call, state);
                return new Part(
                        Kind.FAILURE,
                        Exceptions.named(one)
                                + (state.isEmpty() ? "" : " " + state)
                                + (statement == null
                                        ? Exceptions.in(chain)
                                        : " of " + OperationNames.withoutStatus(statement.name())));
            }
        }
        String answer = ofRedis(chain);
        if (answer != null) {
            return failing(FailedPeer.name(call, chain), answer);
        }
        Throwable innermost = chain.get(chain.size() - 1);
        return new Part(Kind.FAILURE, Exceptions.named(innermost) + Exceptions.in(chain));
    }

    /**
     * Returns the error that Redis has answered, or another reason why its client failed; null if no client of Redis
     * threw one of the exceptions. Spring wraps the exceptions of clients in exceptions with general messages.
     */
    private static @Nullable String ofRedis(List<Throwable> chain) {
        String failure = null;
        for (Throwable one : chain) {
            String message = FailedPeer.isOfRedis(one) ? one.getMessage() : null;
            if (message != null) {
                Matcher word = REDIS_ERROR.matcher(message);
                if (word.find()) {
                    return "answers " + word.group(1);
                }
                failure = failure == null ? Exceptions.named(one) : failure;
            }
        }
        String hidden = failure == null ? null : HiddenReasons.of(chain);
        return hidden == null ? failure : hidden;
    }
}
