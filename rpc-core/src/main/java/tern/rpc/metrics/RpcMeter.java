package tern.rpc.metrics;

import org.jspecify.annotations.Nullable;

/** All of Tern's meters, with their Micrometer names. */
public enum RpcMeter {
    SERVER_REQUESTS(
            "rpc.server.requests",
            "Time from the last byte of the request until the answer is handed to the connection"),
    SERVER_QUEUE("rpc.server.queue", "Time that calls waited for a worker"),
    SERVER_WORKERS_ACTIVE("rpc.server.workers.active", "Calls that a worker runs"),
    SERVER_WORKERS_QUEUED("rpc.server.workers.queued", "Calls waiting for a worker"),
    SERVER_WORKERS_LIMIT("rpc.server.workers.limit", "Maximum number of worker threads"),
    SERVER_WORKERS_REJECTED("rpc.server.workers.rejected", "Calls refused because no worker was free for them"),
    SERVER_DENIED("rpc.server.denied", "Calls refused by a token or an authorizer"),
    SERVER_REFUSED("rpc.server.refused", "Calls refused before their method ran"),
    SERVER_FLOODED("rpc.server.flooded", "Calls refused because their tenant used more than its share"),
    SERVER_CONCURRENCY("rpc.server.concurrency", "Admitted calls that run or wait for a worker"),
    SERVER_CONCURRENCY_LIMIT("rpc.server.concurrency.limit", "Current maximum of rpc.server.concurrency"),
    SERVER_CONNECTIONS("rpc.server.connections", "Connections from clients"),
    SERVER_WRITE_QUEUE("rpc.server.write.queue", "Bytes of answers waiting for sockets", "bytes"),
    SERVER_INBOUND(
            "rpc.server.inbound",
            "Bytes of requests that are incomplete or not read by a worker yet, headers included",
            "bytes"),
    SERVER_UNSENT("rpc.server.unsent", "Bytes of answers that clients have not taken yet", "bytes"),
    SERVER_IN_FLIGHT("rpc.server.in.flight", "Calls received and not answered yet"),
    SERVER_STREAMS_STALLED(
            "rpc.server.streams.stalled",
            "Streams that were ready to send but sent nothing for 10 s; a value above 0 shows a defect in Tern"),
    SERVER_PHASE("rpc.server.phase", "Time of the calls in one phase"),
    SERVER_OPERATIONS("rpc.server.operations", "Operations of the calls in one phase"),
    WEAKENED("rpc.weakened", "1 for each setting that makes the server less safe than by default"),
    CLIENT_REQUESTS("rpc.client.requests", "Time from the call to its result, including all attempts"),
    CLIENT_RETRIES("rpc.client.retries", "Attempts after the first"),
    CLIENT_HEDGES("rpc.client.hedges", "Attempts sent to a second provider because the first one was slow"),
    CLIENT_EJECTIONS("rpc.client.ejections", "Times that calls began to avoid a provider because of its failures"),
    CLIENT_PROBES("rpc.client.probes", "Calls that check whether a silent, slow or failing provider has recovered"),
    CLIENT_FALLBACKS("rpc.client.fallbacks", "Calls that no provider accepted and a fallback answered"),
    CLIENT_CONNECTIONS("rpc.client.connections", "Connections to servers"),
    CLIENT_WRITE_QUEUE("rpc.client.write.queue", "Bytes of requests waiting for sockets", "bytes"),
    CLIENT_IN_FLIGHT("rpc.client.in.flight", "Calls sent and not answered yet"),
    CLIENT_LATE_ANSWERS("rpc.client.late.answers", "Answers that came after their call had ended");

    /**
     * The key of the service in the form of {@link tern.rpc.ServiceKey#toString()}: {@code blue/example.Shop:1.0}.
     */
    public static final String SERVICE = "service";

    public static final String METHOD = "method";

    /** The name of a property whose value makes the server less secure. */
    public static final String SETTING = "setting";

    /** The key of a {@link tern.rpc.Phase}, such as {@code sql}. */
    public static final String PHASE = "phase";

    /** The key of a {@link tern.rpc.limit.Refusal}, such as {@code queue}. */
    public static final String REASON = "reason";

    /**
     * The tenant: the subject of its certificate, its address or its connection. All tenants after the first 32 share
     * the value {@code others}.
     */
    public static final String TENANT = "tenant";

    /**
     * The kind of probe: {@code ping} to a silent provider, or {@code call} for a copy of a call that is sent to a slow
     * or failing provider.
     */
    public static final String PROBE = "probe";

    /** The protocol, such as {@code dubbo} or {@code memory}. */
    public static final String PROTOCOL = "protocol";

    /**
     * The outcome: {@code ok}, {@code exception} for an exception of the method itself, or the status code in lower
     * case.
     */
    public static final String OUTCOME = "outcome";

    private final String key;
    private final String description;
    private final @Nullable String unit;

    RpcMeter(String key, String description) {
        this(key, description, null);
    }

    RpcMeter(String key, String description, @Nullable String unit) {
        this.key = key;
        this.description = description;
        this.unit = unit;
    }

    public String key() {
        return key;
    }

    public String description() {
        return description;
    }

    /**
     * Returns the base unit, such as {@code bytes}. Returns null for plain counts, and for timers, whose unit is
     * determined by the registry.
     */
    public @Nullable String unit() {
        return unit;
    }
}
