package tern.rpc.health;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Attributes;
import tern.rpc.server.MethodBody;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.AcceptedTokens;

/**
 * The {@code grpc.health.v1.Health} service, which reports whether the server accepts calls. Each service name has a
 * status; the empty name represents the whole server. Service names are added with {@link #add} and
 * {@link #set(String, ServingStatus)}. While the status of the whole server is NOT_SERVING, this status is reported for
 * every name. Callers need no token, because health probes have no token and the status is not secret.
 *
 * <p>Thread-safe. Watchers are notified on the thread that changes the status.
 */
public final class HealthService {

    /** The name of the health service in requests. Calls to it need no token. */
    public static final String NAME = AcceptedTokens.OPEN_SERVICE;

    private static final Logger LOG = LoggerFactory.getLogger(HealthService.class);

    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    /** The maximum number of open Watch calls on all connections together (docs/limits.md). */
    static final int MAX_WATCHES = 1_000;

    private static final String WHOLE_SERVER = "";

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            NAME,
            List.of(
                    new Operation("Check", MethodType.UNARY, byte[].class, byte[].class),
                    new Operation("Watch", MethodType.SERVER_STREAMING, byte[].class, byte[].class)));

    private final Map<String, ServingStatus> statuses = new HashMap<>(); // guarded by this

    // the open watches; modified only while this object is locked; read without the lock, so that status changes do not
    // delay calls
    private final Set<HealthWatch> watches = ConcurrentHashMap.newKeySet();
    private final OpenWatches open = new OpenWatches(MAX_WATCHES); // guarded by this
    private final SeldomWarning tooMany = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    private boolean shutDown; // guarded by this

    /** Creates the health service. The server's initial status is SERVING. */
    public HealthService() {
        statuses.put(WHOLE_SERVER, ServingStatus.SERVING);
    }

    /**
     * Exports the health service, which answers even while the server rejects all other calls. Each server needs a
     * separate export.
     */
    public ServiceExport export() {
        return new ServiceExport(SERVICE, new ServiceKey(NAME, "", ""), this::body, Attributes.DEFAULT_WEIGHT, true);
    }

    /**
     * Adds a service's status under both its interface name and its service key. The status is SERVING unless it was
     * set before.
     */
    public void add(ServiceExport export) {
        synchronized (this) {
            statuses.putIfAbsent(export.key().interfaceName(), ServingStatus.SERVING);
            statuses.putIfAbsent(export.key().toString(), ServingStatus.SERVING);
        }
        notifyWatches();
    }

    /** Sets the status of the whole server. */
    public void set(ServingStatus status) {
        set(WHOLE_SERVER, status);
    }

    /**
     * Sets the status of a service. Does nothing after {@link #shutDown}.
     *
     * @param service the name that callers use: the name of the interface, or a service key
     */
    public void set(String service, ServingStatus status) {
        synchronized (this) {
            if (shutDown) {
                return;
            }
            statuses.put(service, status);
        }
        notifyWatches();
    }

    /** Returns the status for this name; SERVICE_UNKNOWN if the name is unknown. */
    public synchronized ServingStatus status(String service) {
        ServingStatus own = statuses.get(service);
        if (own == null) {
            return ServingStatus.SERVICE_UNKNOWN;
        }
        ServingStatus server = statuses.getOrDefault(WHOLE_SERVER, ServingStatus.UNKNOWN);
        return server == ServingStatus.SERVING ? own : server;
    }

    /**
     * Permanently sets every status to NOT_SERVING, sends this status to all watchers, and then ends their calls.
     * Called before the server drains.
     */
    public void shutDown() {
        synchronized (this) {
            statuses.replaceAll((name, status) -> ServingStatus.NOT_SERVING);
            shutDown = true;
        }
        notifyWatches();
    }

    synchronized boolean isShutDown() {
        return shutDown;
    }

    /**
     * Registers a Watch call. The number of these calls is limited, because they need no token and may stay open
     * forever. If the limit is reached, {@link OpenWatches} chooses a Watch call, which then ends with UNIMPLEMENTED.
     * gRPC clients that get this status use the server without health checks (gRFC A17). With any other status, they
     * would send no calls to the server.
     *
     * @return the reason why the call is refused; null if it is registered
     */
    @Nullable
    RpcException watched(HealthWatch watch) {
        HealthWatch ended;
        RpcException reason;
        synchronized (this) {
            ended = open.add(watch);
            if (ended != watch) {
                watches.add(watch);
            }
            if (ended == null) {
                return null;
            }
            watches.remove(ended);
            reason = tooMany(ended);
        }
        tooMany.warn(() -> "A call of Watch from " + ended.connection() + " ends: "
                + reason.status().description() + ". gRPC clients then use this server without health checks");
        if (ended == watch) {
            return reason;
        }
        ended.replaced(reason);
        return null;
    }

    private RpcException tooMany(HealthWatch ended) {
        return RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                open.open() + " of " + MAX_WATCHES + " calls watch the health of this server, "
                        + open.ofNetwork(ended.connection()) + " of them from this address",
                Executed.YES);
    }

    synchronized void unwatched(HealthWatch watch) {
        watches.remove(watch);
        open.remove(watch);
    }

    private void notifyWatches() {
        watches.forEach(HealthWatch::changed);
    }

    private MethodBody body(MethodDescriptor method) {
        return method.type().serverStreams()
                ? arguments -> HealthWatch.of(this, HealthMessages.service((byte[]) arguments[0]), connection())
                : arguments -> CompletableFuture.completedFuture(check(HealthMessages.service((byte[]) arguments[0])));
    }

    /** Returns an object that identifies the connection of the running call. */
    private static Object connection() {
        ServerContext serving = ServerContext.current();
        SocketAddress peer = serving == null ? null : serving.remoteAddress();
        return peer == null ? "in this process" : peer;
    }

    private byte[] check(String service) {
        ServingStatus status = status(service);
        if (status == ServingStatus.SERVICE_UNKNOWN) {
            throw RpcException.refusal(
                    StatusCode.NOT_FOUND,
                    "the health of '" + PeerText.name(service)
                            + "' is not known here; ask for the empty name, an interface or a" + " service key",
                    Executed.YES);
        }
        return HealthMessages.response(status);
    }
}
