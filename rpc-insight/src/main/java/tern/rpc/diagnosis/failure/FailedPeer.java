package tern.rpc.diagnosis.failure;

import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.ThrowingLibrary;

/** Finds the operation and the peer that failed, from the exceptions of a failed call and from its ledger. */
public final class FailedPeer {

    private static final Set<String> DATABASE =
            Set.of("SQLException", "DataAccessException", "PersistenceException", "MongoException");
    private static final Set<String> REDIS = Set.of(
            "JedisException",
            "RedisException",
            "RedisSystemException",
            "RedisConnectionFailureException",
            "PoolException");

    /** HTTP client exceptions whose messages may contain the body of an answer. URLs in these messages are ignored. */
    private static final Set<String> REST = Set.of("RestClientException");

    private static final Set<String> HTTP =
            Set.of("RestClientException", "WebClientException", "HttpException", "HttpTimeoutException");

    private static final Pattern ADDRESS = Pattern.compile(
            "(?<![\\w.])([A-Za-z0-9_-]*[A-Za-z.][A-Za-z0-9_.-]*(?:/[0-9.]+)?|\\[[0-9a-fA-F:]+]):(\\d{2,5})(?!\\d)");
    private static final Pattern URL = Pattern.compile("\\bhttps?://(?:[^/@\\s]*@)?([A-Za-z0-9_.:-]+)");

    private static final String PEER = "peer";

    /**
     * An address is searched in the first {@value} characters of a message. The search takes time in proportion to the
     * square of the length of a word, and a message may contain a token or an encoded file.
     */
    private static final int MAX_SEARCHED = 1_000;

    private FailedPeer() {}

    static boolean isOfRedis(Throwable failure) {
        return isA(failure, REDIS);
    }

    static boolean isOfHttp(Throwable failure) {
        return isA(failure, HTTP);
    }

    static boolean isOfDatabase(Throwable failure) {
        return isA(failure, DATABASE);
    }

    /**
     * Returns the name of the peer that failed. For HTTP and RPC, this is the name of the call's slowest operation.
     * Otherwise it is the address in the exceptions' messages, or a general name if there is no address.
     *
     * @param chain the exceptions, each followed by its cause
     */
    static String name(EndedCall call, List<Throwable> chain) {
        Phase phase = phase(call, chain);
        String address = address(chain);
        Part operation = phase == Phase.RPC ? longest(call, Phase.RPC) : null;
        if (phase == Phase.HTTP) {
            operation = exchange(call, chain, address);
        }
        if (operation != null) {
            return OperationNames.withoutStatus(operation.name());
        }
        String kind = kind(phase);
        if (address != null) {
            return kind.isEmpty() ? address : kind + " at " + address;
        }
        return kind.isEmpty() || kind.equals(PEER) ? PEER + " of " + call.method() : kind + ofStore(call, phase);
    }

    /** Returns text such as " of orders" with the failed data source or Redis server; empty if there is only one. */
    private static String ofStore(EndedCall call, @Nullable Phase phase) {
        Part operation = phase == null ? null : longest(call, phase);
        String store = operation == null ? "" : OperationNames.store(operation.name());
        return store.isEmpty() ? "" : " of " + store;
    }

    private static String kind(@Nullable Phase phase) {
        return phase == null
                ? ""
                : switch (phase) {
                    case SQL, JDBC_CONNECTION -> "database";
                    case REDIS, REDIS_CONNECTION -> "Redis";
                    case HTTP, HTTP_CONNECTION -> "HTTP peer";
                    default -> PEER;
                };
    }

    /**
     * Returns the exchange that probably failed, which is the slowest exchange. Returns null if the exceptions name a
     * different host, because the call then also used a client that Tern does not measure.
     */
    private static @Nullable Part exchange(EndedCall call, List<Throwable> chain, @Nullable String address) {
        Part longest = longest(call, Phase.HTTP);
        String host = address == null ? "" : address.split("[/:]", 2)[0];
        boolean isName = host.chars().anyMatch(Character::isLetter);
        boolean isKnown = longest == null
                || !isName
                || longest.name().contains(host)
                || OperationNames.isFailing(longest.name())
                || chain.stream().anyMatch(one -> isA(one, REST));
        return isKnown ? longest : null;
    }

    private static @Nullable String address(List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            Throwable one = chain.get(i);
            String text = one.getMessage();
            String message = text == null ? "" : text.substring(0, Math.min(text.length(), MAX_SEARCHED));
            Matcher found = ADDRESS.matcher(message);
            if (found.find()) {
                return found.group();
            }
            Matcher url = URL.matcher(isA(one, REST) ? "" : message);
            if (url.find()) {
                return url.group(1);
            }
            if (one instanceof UnknownHostException && text != null) {
                return message.split("[: ]", 2)[0];
            }
        }
        return null;
    }

    /**
     * Returns the phase of the operation that failed; null if it is unknown or if ledgers record no such operations. If
     * the exceptions do not show the operation, the result is an operation that the call has run.
     */
    static @Nullable Phase phase(EndedCall call, List<Throwable> chain) {
        // Redis is checked first, because Spring wraps Redis exceptions in its database exceptions.
        for (Throwable one : chain) {
            if (isA(one, REDIS)) {
                return ofKind(call, Kind.REDIS);
            }
            if (isA(one, HTTP)) {
                return ofKind(call, Kind.HTTP);
            }
        }
        for (Throwable one : chain) {
            if (isA(one, DATABASE)) {
                return ofKind(call, Kind.SQL);
            }
            if (one instanceof RpcException) {
                return Phase.RPC;
            }
        }
        Kind library = ThrowingLibrary.of(chain);
        if (library != null) {
            return ofKind(call, library);
        }
        for (Phase phase : List.of(
                Phase.HTTP,
                Phase.HTTP_CONNECTION,
                Phase.RPC,
                Phase.REDIS,
                Phase.REDIS_CONNECTION,
                Phase.SQL,
                Phase.JDBC_CONNECTION)) {
            if (call.ledger().count(phase) > 0) {
                return phase;
            }
        }
        return null;
    }

    /** Returns the phase in which an operation of the given kind failed; null if ledgers record no such operations. */
    private static @Nullable Phase ofKind(EndedCall call, Kind kind) {
        return switch (kind) {
            case HTTP -> call.ledger().count(Phase.HTTP) > 0 ? Phase.HTTP : Phase.HTTP_CONNECTION;
            case REDIS -> call.ledger().count(Phase.REDIS) > 0 ? Phase.REDIS : Phase.REDIS_CONNECTION;
            case SQL -> call.ledger().count(Phase.SQL) > 0 ? Phase.SQL : Phase.JDBC_CONNECTION;
            case RPC -> Phase.RPC;
            default -> null;
        };
    }

    /** Returns the operation of the given phase that took longest; null if no operation of this phase was recorded by
     * name. */
    public static @Nullable Part longest(EndedCall call, Phase phase) {
        return longest(call, phase, name -> true);
    }

    /**
     * Returns the statement that failed with this SQL state. If no recorded statement has this state, returns the
     * statement that took longest, except a rollback, which follows a failure. Returns null if there is none.
     */
    static @Nullable Part failedStatement(EndedCall call, String state) {
        Part failed = state.isEmpty()
                ? null
                : longest(
                        call, Phase.SQL, name -> OperationNames.errorCode(name).equals(state));
        return failed != null ? failed : longest(call, Phase.SQL, name -> !NamedTimes.isRollback(name));
    }

    /**
     * Returns the remote call that threw the given exception: the one that the exception's message names, or else one
     * that failed with the exception's status. If neither is recorded, returns the remote call that took longest.
     * Returns null if no remote call was recorded by name.
     */
    static @Nullable Part failedCall(EndedCall call, RpcException failure) {
        String message = failure.status().description();
        Part named = longest(call, Phase.RPC, name -> isAbout(message, name));
        Part failed = named != null
                ? named
                : longest(
                        call,
                        Phase.RPC,
                        name -> OperationNames.errorCode(name)
                                .equals(failure.code().name()));
        return failed != null ? failed : longest(call, Phase.RPC);
    }

    /**
     * Returns whether the message of an exception is about the remote call with the given name. The message begins with
     * the service and the method, for example {@code StockService/reserve}.
     */
    static boolean isAbout(String message, String operation) {
        String method = OperationNames.method(OperationNames.withoutStatus(operation));
        int dot = method == null ? -1 : method.lastIndexOf('.');
        return method != null
                && dot > 0
                && message.startsWith(method.substring(0, dot) + '/' + method.substring(dot + 1))
                && (message.length() == method.length()
                        || !Character.isJavaIdentifierPart(message.charAt(method.length())));
    }

    private static @Nullable Part longest(EndedCall call, Phase phase, Predicate<String> wanted) {
        NamedTimes.Entry longest = null;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase
                    && wanted.test(entry.name())
                    && (longest == null || entry.nanos() > longest.nanos())) {
                longest = entry;
            }
        }
        return longest == null ? null : Account.part(phase, longest.name());
    }

    private static boolean isA(Throwable failure, Set<String> simpleNames) {
        for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
            if (simpleNames.contains(type.getSimpleName())) {
                return true;
            }
        }
        return false;
    }
}
