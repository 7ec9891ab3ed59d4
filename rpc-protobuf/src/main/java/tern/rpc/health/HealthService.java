package tern.rpc.health;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
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
 * status; the empty name represents the whole server. {@link #add} and {@link #set(String, ServingStatus)} add service
 * names. While the whole server is not serving, all names are reported as not serving. Callers need no token, because
 * probes have none and the status is not secret.
 *
 * <p>Thread-safe. Watchers are notified on the thread that changes the status.
 */
public final class HealthService {

    /** The name of the health service in requests. Calls to it need no token. */
    public static final String NAME = AcceptedTokens.OPEN_SERVICE;

    private static final String WHOLE_SERVER = "";

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            NAME,
            List.of(
                    new Operation("Check", MethodType.UNARY, byte[].class, byte[].class),
                    new Operation("Watch", MethodType.SERVER_STREAMING, byte[].class, byte[].class)));

    private final Map<String, ServingStatus> statuses = new HashMap<>(); // guarded by this
    private final List<HealthWatch> watches = new ArrayList<>(); // guarded by this
    private boolean shutDown; // guarded by this

    /** Creates the health service. The server's initial status is SERVING. */
    public HealthService() {
        statuses.put(WHOLE_SERVER, ServingStatus.SERVING);
    }

    /**
     * Exports the health service, which responds even while the server rejects all other calls. Each server needs its
     * own export.
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
        tellWatches();
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
        tellWatches();
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
        List<HealthWatch> ended;
        synchronized (this) {
            statuses.replaceAll((name, status) -> ServingStatus.NOT_SERVING);
            shutDown = true;
            ended = List.copyOf(watches);
        }
        ended.forEach(HealthWatch::changed);
    }

    synchronized boolean isShutDown() {
        return shutDown;
    }

    synchronized void watched(HealthWatch watch) {
        watches.add(watch);
    }

    synchronized void unwatched(HealthWatch watch) {
        watches.remove(watch);
    }

    private void tellWatches() {
        List<HealthWatch> told;
        synchronized (this) {
            told = List.copyOf(watches);
        }
        told.forEach(HealthWatch::changed);
    }

    private MethodBody body(MethodDescriptor method) {
        return method.type().serverStreams()
                ? arguments -> HealthWatch.of(this, HealthMessages.service((byte[]) arguments[0]))
                : arguments -> CompletableFuture.completedFuture(check(HealthMessages.service((byte[]) arguments[0])));
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
