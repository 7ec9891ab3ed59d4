package tern.rpc.diagnosis.failure;

import java.util.List;
import java.util.regex.Pattern;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;

/** The recommended changes for calls that fail. */
public final class FailureText {

    /**
     * @param text a part of the failure's name
     * @param change the text of the recommended change; the failure's name is appended to it
     */
    private record Known(Pattern text, String change) {

        static Known of(String regex, String change) {
            return new Known(Pattern.compile(regex), change);
        }
    }

    private static final List<Known> OWN = List.of(
            Known.of(
                    "^status \\d",
                    "find the handler, the filter or the web server that answers with this status: no exception reached"
                            + " Spring"),
            Known.of(
                    "executor shut down",
                    "do not shut down an executor that calls still use, or create it again for the next use"),
            Known.of("Too many open files", "close files and sockets, or raise the limit of open files (ulimit -n)"),
            Known.of(
                    "No space left on device",
                    "free space on the disk; if space is free (df), delete small files, because the file system has no"
                            + " free inodes (df -i) or a quota is used up"),
            Known.of(
                    "Read-only file system",
                    "make the file system writable; the kernel often makes it read-only after a disk failure"),
            Known.of(
                    "unable to create native thread",
                    "end threads or use a pool: this process has reached its limit of threads"),
            Known.of(
                    "Direct buffer memory|direct memory",
                    "release direct buffers, or raise -XX:MaxDirectMemorySize (for Netty, -Dio.netty.maxDirectMemory)"),
            Known.of(
                    "Java heap space|GC overhead limit",
                    "limit the size of caches, queues and sessions in memory; if all of their content is needed,"
                            + " raise -Xmx"),
            Known.of("Metaspace", "find out what loads classes repeatedly, or raise -XX:MaxMetaspaceSize"),
            Known.of(
                    "Compressed class space",
                    "find out what loads classes repeatedly, or raise -XX:CompressedClassSpaceSize"),
            Known.of(
                    "^StackOverflowError",
                    "end this recursion sooner: limit the depth of the data, break cycles between objects, or use a"
                            + " pattern without nested repetitions; otherwise raise -Xss"),
            Known.of("Requested array size", "read or build this data in parts: no array can be that large"),
            Known.of(
                    "Socket closed|Connection pool shut down",
                    "do not close a client or its connections while calls use them: this process closes them itself,"
                            + " for example because a client that calls share is closed after each use"),
            Known.of(
                    "^(ClosedByInterrupt|Interrupted)Exception|Closed by interrupt",
                    "find out what interrupts the thread of this call, such as cancel(true) after a timeout or"
                            + " shutdownNow; an interrupt also closes the file or the connection that the thread"
                            + " uses"),
            Known.of(
                    "^(ClosedChannel|AsynchronousClose)Exception",
                    "open the file again after its channel was closed: other code closes it, or an interrupt of a"
                            + " thread that used it did"),
            Known.of(
                    "^DataBufferLimitException",
                    "read a smaller body, or raise spring.http.codecs.max-in-memory-size, the limit of WebFlux and"
                            + " WebClient for one body"),
            Known.of(
                    "^StreamConstraintsException",
                    "read smaller JSON, or raise the limit of Jackson that it exceeds (StreamReadConstraints)"),
            Known.of(
                    "^OverflowException",
                    "bound the source or add onBackpressureBuffer, onBackpressureDrop or onBackpressureLatest: this"
                            + " stream emits items faster than its subscriber requests them"),
            Known.of(
                    "^(NoClassDefFoundError|ExceptionInInitializerError)",
                    "find the first ExceptionInInitializerError in the log: a static initializer failed, and the class"
                            + " stays unusable until a restart"),
            Known.of(
                    "Too many connections|connection slots are reserved| 53300",
                    "use fewer connections in the pools of all instances, or raise the limit of the database, which"
                            + " refuses further connections"),
            Known.of(
                    "Lock wait timeout| 55P03",
                    "shorten the transaction that holds the row: the database ended a wait for its lock after a"
                            + " timeout"),
            Known.of(
                    " 40001| 40P01|[Dd]eadlock",
                    "lock rows in the same order in all transactions, and repeat a transaction that the database"
                            + " ended because of a deadlock"),
            Known.of(
                    " CONFLICT",
                    "repeat a transaction that the database ended because another one changed the same rows, and keep"
                            + " such transactions short; or lock the rows when they are read"),
            Known.of(
                    "OptimisticLock|StaleObjectState|StaleState",
                    "two transactions change the same rows at the same time: repeat the failed transaction, make"
                            + " both shorter, or lock the rows when they are read"),
            Known.of(
                    " 25P02",
                    "end the transaction after a failed statement: code catches the failure and continues in the same"
                            + " transaction, which the database has aborted"),
            Known.of(
                    " 25P03",
                    "shorten the pauses between the statements of this transaction, such as calls to other services:"
                            + " the database ended it because it was idle"),
            Known.of(
                    "^UnexpectedRollbackException",
                    "let the failure of the inner @Transactional method end the outer one, or run the inner method in"
                            + " its own transaction: code catches its exception, but the transaction can only be rolled"
                            + " back"),
            Known.of(
                    " 23505|^DuplicateKeyException",
                    "find out why the row exists already: a call that is repeated, two calls that insert it at the same"
                            + " time, or a sequence that is behind the table"),
            Known.of(
                    " 22001|^DataTruncation",
                    "store a shorter value, or make the column longer: a value does not fit into its column"),
            Known.of(" 22003", "use a larger type for the column, or check the number: it is out of range"),
            Known.of(" 23502", "set a value for this column, which does not allow null"),
            Known.of(
                    " 23503",
                    "insert the referenced row first, or delete the referring rows first: a foreign key has no match"),
            Known.of(
                    " 08003",
                    "find out who closes this connection before its last use: the code itself, or a pool that takes"
                            + " back connections which are used for too long"),
            Known.of(
                    " (42601|42000)( |$)",
                    "correct the text of this statement, or the permissions of its user: the database does not accept"
                            + " it"),
            Known.of(
                    " 25006",
                    "write in a transaction that is not read-only; if it is not, connect to the primary: after a"
                            + " failover, writes reach a replica"),
            Known.of(
                    " (42P01|42S02|42703|42S22)",
                    "create the table or the column: a migration did not run, or the schema is not on the search path"),
            Known.of(" 42501", "give the database user of this application the permission that the statement needs"),
            Known.of(
                    "^LazyInitializationException",
                    "load the association within the transaction (join fetch, an entity graph): it is read after its"
                            + " session was closed, for example since spring.jpa.open-in-view=false"),
            Known.of(
                    "^(MismatchedInput|UnrecognizedProperty|InvalidFormat|InvalidTypeId|InvalidDefinition|StreamRead"
                            + "|UnexpectedEndOfInput|JsonParse|JsonEOF|JsonMapping|JsonSyntax|Databind)Exception",
                    "compare the JSON with the class into which it is read: the sender or a cache has other members,"
                            + " or an error page is read"),
            Known.of(
                    "^(InvalidClass|StreamCorrupted|Serialization|Deserialization)Exception",
                    "remove old entries from the cache or the session store, or read them with the class that wrote"
                            + " them: the class has changed"),
            Known.of(
                    "^(NoSuchMethod|NoSuchField|AbstractMethod|IncompatibleClassChange|UnsupportedClassVersion)Error",
                    "use matching versions of the libraries: one of them was compiled against another version"),
            Known.of("^(NoSuchFile|FileNotFound)Exception", "create or mount the file or folder that the code expects"),
            Known.of("Permission denied", "give this process access to the file or folder"),
            Known.of(
                    " 57014|SQLTimeoutException",
                    "check this statement's plan or raise its timeout: the database ended it before it was complete"));

    private static final List<Known> OF_PEERS = List.of(
            Known.of(
                    "SSL|Certificate",
                    "check the certificate (expired, unknown issuer, wrong name) and the TLS versions of %s"),
            Known.of("HTTP status 40[13]", "renew the credentials that are sent to %s"),
            Known.of("HTTP status 429", "send fewer requests to %s, which limits them"),
            Known.of(
                    "HTTP status 4\\d\\d",
                    "correct the requests to %s, which does not accept them: another address, other members, or"
                            + " another version"),
            Known.of("HTTP status 50[234]", "find out why %s or the process behind it is down or overloaded"),
            Known.of(
                    "^redirects without end",
                    "find out why the redirects of %s lead back to it (a login page, http instead of https, a slash at"
                            + " the end, a proxy), and call the final address directly"),
            Known.of("answers OOM", "raise maxmemory or allow eviction in %s: it has no memory for writes"),
            Known.of(
                    "answers READONLY", "connect to the primary of %s: writes reach a replica, often after a failover"),
            Known.of(
                    "answers MISCONF",
                    "free space on the disk of %s, or let it write its snapshots there: it cannot save its data and"
                            + " refuses writes"),
            Known.of("answers BUSY$", "end the script that blocks %s (SCRIPT KILL), and keep scripts short"),
            Known.of("answers WRONGTYPE", "use another key or remove the old value: in %s, the key has another type"),
            Known.of(
                    "answers (MOVED|ASK|CROSSSLOT)",
                    "connect to %s as a cluster (spring.data.redis.cluster.nodes), with hash tags for keys that are"
                            + " used together"),
            Known.of("answers (LOADING|MASTERDOWN|CLUSTERDOWN)", "wait until %s has started, or repair its cluster"),
            Known.of("answers (NOAUTH|WRONGPASS|NOPERM)", "correct the user and the password for %s"),
            Known.of("max number of clients", "use fewer connections to %s in all instances, or raise maxclients"),
            Known.of(
                    "^" + Part.SILENT,
                    "connect to %s with another client: if it answers there, look in its list of running commands and"
                            + " locks for what blocks this application (a lock, a long command); if it does not"
                            + " answer there either, it is stopped, paused or unreachable, so start it again, or repair"
                            + " the network to it; no call gets an answer from it"),
            Known.of(
                    "^too many connections",
                    "use fewer connections in the pools of all instances, or raise the limit of %s"),
            Known.of(
                    "^limit of the user",
                    "run fewer statements, or raise the limit that the user of this application has at %s (MySQL and"
                            + " MariaDB: ALTER USER ... WITH MAX_QUERIES_PER_HOUR; Oracle: the profile of the user)"),
            Known.of("^login refused", "correct the user and the password for %s"),
            Known.of("^starting or shutting down", "find out who stops or restarts %s, and wait until it has started"),
            Known.of("^disk full", "free space on the disk of %s, or let its files grow"),
            Known.of(
                    "^packet too large",
                    "send less data with one statement (smaller batches, files outside of the database), or raise"
                            + " max_allowed_packet of %s"),
            Known.of("^read-only", "connect to the primary of %s: writes reach a replica, often after a failover"),
            Known.of(
                    "^connection lost",
                    "check whether %s runs and why it ends connections: its log, a proxy or a firewall in between, or a"
                            + " connection that the pool keeps for longer than the server"),
            Known.of(
                    "^Connection refused",
                    "start the process at %s, where connections are refused, or correct the address"),
            Known.of(
                    "^(Connection reset|Broken pipe|NoHttpResponseException|ClosedChannelException|SocketException"
                            + "|unexpected end of stream)",
                    "find out why %s closes connections: check its log, its limits and any proxy in between; if only"
                            + " requests on idle connections fail, close these sooner than the peer does (the"
                            + " keep-alive time of the client), or repeat such requests"),
            Known.of(
                    "^Connection timed out",
                    "find out why packets to %s are lost: it may have vanished without closing the connection, or a"
                            + " firewall forgets idle connections (use keep-alive, or close idle connections sooner)"),
            Known.of("^(No route to host|Network is unreachable)", "repair the network route to %s"),
            Known.of(
                    "^name cannot be resolved",
                    "correct the host name of %s, or repair the DNS resolver of this machine"),
            Known.of(
                    "^no metadata of the topic",
                    "find out why no broker can be reached from here (bootstrap.servers, its listeners), or create the"
                            + " topic: %s"),
            Known.of(
                    "^connections are not accepted in time",
                    "find out why %s does not accept connections: it may be down or paused, behind a firewall, or its queue may"
                            + " be full; meanwhile set a shorter connect timeout"),
            Known.of(
                    "^UNAVAILABLE",
                    "check the log of %s, and whether it runs, can be reached and is listed in the registry"
                            + " (/actuator/rpc/cluster shows the known providers)"),
            Known.of("^DEADLINE_EXCEEDED", "read the diagnosis of %s: one of its own calls does not end in time"),
            Known.of(
                    "^RESOURCE_EXHAUSTED",
                    "read the log and the diagnosis of %s: it refuses calls because a limit is reached"),
            Known.of("^UNIMPLEMENTED", "deploy the version of %s that has this method, group and version"),
            Known.of("^(UNAUTHENTICATED|PERMISSION_DENIED)", "renew or correct the token that is sent to %s"),
            Known.of(
                    "^Cannot assign requested address",
                    "reuse connections to %s: this machine has no free local port for more"));

    /** Matches the beginning of the name of a database or a Redis server. */
    private static final Pattern STORE = Pattern.compile("^(database|Redis)\\b");

    /** Matches the simple name of a service. Failures of several methods have the name of their service. */
    private static final Pattern SERVICE = Pattern.compile("(?!Redis$|HTTP)[A-Z]\\w*");

    /** Matches the status in a provider's answer. */
    private static final Pattern STATUS = Pattern.compile("[A-Z]+(_[A-Z]+)*");

    private FailureText() {}

    /** Returns the advice for a failure in the process itself or in a database. */
    public static String own(String failure) {
        for (Known known : OWN) {
            if (known.text.matcher(failure).find()) {
                return known.change + ": " + failure;
            }
        }
        return "fix the code that throws " + failure;
    }

    /**
     * Returns the advice for a failure of another process.
     *
     * @param name the name of the process and the failure, separated by a colon
     */
    public static String ofPeer(String name) {
        int end = name.lastIndexOf(": ");
        return end < 0 ? ofPeer(name, "") : ofPeer(name.substring(0, end), name.substring(end + 2));
    }

    /** Returns the advice for a failure of another process. */
    public static String ofPeer(String peer, String failure) {
        if (failure.equals(Part.SILENT) && !STORE.matcher(peer).find()) {
            return "find out why " + peer + " answers no call: it is most likely stopped, paused (garbage collector,"
                    + " signal), overloaded or unreachable; read its log, and its diagnosis if it has one; then check"
                    + " the network to it";
        }
        if (UnreadableAnswers.is(failure)) {
            return UnreadableAnswers.advice(peer, failure);
        }
        String tls = TlsFailures.advice(peer, failure);
        if (tls != null) {
            return tls;
        }
        for (Known known : OF_PEERS) {
            if (known.text.matcher(failure).find()) {
                String target = failure.equals("Connection refused") ? address(peer) : peer;
                return known.change.replace("%s", target) + (isKnown(failure) ? "" : ": it fails with " + failure);
            }
        }
        String method = OperationNames.method(peer);
        boolean isProvider = STATUS.matcher(failure).matches()
                || (method != null
                        && (method.contains(".") || SERVICE.matcher(method).matches()));
        return (isProvider ? "read the diagnosis and the log of " : "read the log of ")
                + peer
                + (peer.endsWith(" providers") ? ": they fail with " : ": it fails with ")
                + failure;
    }

    /**
     * Returns whether there is specific advice for the given failure of another process. Without specific advice, the
     * failure is only the name of an exception, or says only that the process did not answer.
     */
    public static boolean isSpecific(String failure) {
        return !failure.equals(Part.NOT_ACCEPTED)
                && (UnreadableAnswers.is(failure)
                        || TlsFailures.advice("", failure) != null
                        || OF_PEERS.stream()
                                .anyMatch(known -> known.text.matcher(failure).find()));
    }

    /**
     * Returns whether the advice omits the failure, because it already contains the failure or the failure adds no
     * information.
     */
    private static boolean isKnown(String failure) {
        return !failure.startsWith("HTTP status ")
                && !failure.startsWith("answers ")
                && !failure.startsWith("SSL")
                && !failure.endsWith(")"); // not an SQL failure, whose text ends with the SQL state in parentheses
    }

    /** Returns the address from a name such as {@code GET stock:8080/levels}. */
    private static String address(String peer) {
        String address = peer.substring(peer.lastIndexOf(' ') + 1);
        int path = address.indexOf('/', address.indexOf(':') + 1);
        return path < 0 ? address : address.substring(0, path);
    }
}
