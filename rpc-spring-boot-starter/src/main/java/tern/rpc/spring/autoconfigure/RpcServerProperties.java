package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.transport.Tls.ClientAuth;
import tern.rpc.transport.Token;

/**
 * The properties under {@code rpc.server}.
 *
 * @param enabled Whether services are offered to remote callers.
 * @param address Host name or IP address on which the server listens. Default: all addresses.
 * @param port Port for all protocols, 0 for a free port.
 * @param threads Number of calls that run concurrently.
 * @param queueCapacity Maximum number of calls that wait for a thread. Default: twice the number of threads.
 * @param maxQueueWait Maximum time that a call waits for a thread before it is refused as not executed.
 * @param maxConcurrency Maximum number of calls that have a thread, wait for a thread, or wait for an asynchronous
 *     method to complete; adaptive to find the best number by measurement.
 * @param ioThreads Number of event loop threads, shared by server and clients; 0 for one per processor, but at most
 *     eight.
 * @param health Whether grpc.health.v1 is served. The reported status follows the readiness of the application.
 * @param reflection Whether gRPC server reflection is served. Tools use it to read the services and their message
 *     types.
 * @param token Accepted tokens. A caller must send one of them, except for health checks. List two tokens while you
 *     replace one. Default: no token is required.
 * @param genericCalls Whether generic calls are served, for callers without the interface.
 * @param ledger Whether each call records its time by phase, for meters, the log of slow calls and the diagnosis.
 * @param exceptionTexts Whether callers get the messages of exceptions whose classes they do not have. If false, they
 *     get the class name and an id; the server logs the rest under this id.
 * @param exceptionFrames Number of stack frames sent with an exception, at most 64.
 * @param idleTimeout Time after which a connection without traffic is closed.
 * @param shutdownTimeout Maximum time that a shutdown waits for running calls.
 * @param allowedHosts Host names that HTTP requests may use for this server, without ports, such as orders.internal or
 *     *.shop.example. Default: every name.
 * @param acceptedWeaknesses Properties that are set on purpose although they make the server less safe. If the profile
 *     prod, production, live or prd is active, the application starts only if all of them are listed here.
 * @param ssl TLS on the port.
 * @param http HTTP requests whose bodies are not JSON.
 * @param cors Calls from web pages of other origins.
 * @param registry Addresses of the registries in which the server is registered, such as zookeeper://host:2181 or
 *     file:///path.json. Default: none.
 * @param advertise Entry of the server in its registries.
 * @param services Settings of exported services, by the simple name of their interface.
 */
@ConfigurationProperties("rpc.server")
record RpcServerProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String address,
        @DefaultValue("20880") int port,
        @DefaultValue("200") int threads,
        @Nullable Integer queueCapacity,
        @DefaultValue("50ms") Duration maxQueueWait,
        @DefaultValue("adaptive") String maxConcurrency,
        @DefaultValue("0") int ioThreads,
        @DefaultValue("true") boolean health,
        @DefaultValue("false") boolean reflection,
        @Nullable List<Token> token,
        @DefaultValue("false") boolean genericCalls,
        @DefaultValue("true") boolean ledger,
        @DefaultValue("false") boolean exceptionTexts,
        @DefaultValue("0") int exceptionFrames,
        @DefaultValue("180s") Duration idleTimeout,
        @DefaultValue("25s") Duration shutdownTimeout,
        @DefaultValue List<String> allowedHosts,
        @DefaultValue List<String> acceptedWeaknesses,
        @DefaultValue Ssl ssl,
        @DefaultValue Http http,
        @DefaultValue Cors cors,
        @DefaultValue List<String> registry,
        @DefaultValue Advertise advertise,
        @DefaultValue Map<String, Service> services) {

    /**
     * The server's entry in its registries.
     *
     * @param host Address or host name to which consumers connect. Default: the source address of the route to the
     *     registry.
     * @param port Port to which consumers connect; 0 for the port on which the server listens.
     * @param network Network such as 10.1.0.0/16, or name of a network interface, to which the address belongs.
     *     Default: the network of the route to the registry.
     * @param zone Zone of the server, for consumers that prefer their own zone. Default: none.
     * @param tag Tag of the server, for calls with this tag. Default: none.
     * @param warmup Time after the start during which Dubbo consumers gradually increase the server's share of calls.
     */
    record Advertise(
            @Nullable String host,
            @DefaultValue("0") int port,
            @Nullable String network,
            @Nullable String zone,
            @Nullable String tag,
            @DefaultValue("0s") Duration warmup) {}

    /**
     * The settings of one interface, including all its exports.
     *
     * @param methods Settings of methods, by name.
     */
    record Service(@DefaultValue Map<String, Method> methods) {}

    /**
     * The settings of one method, including all its overloads.
     *
     * @param maxConcurrency Maximum number of running calls to this method, all overloads together, or adaptive.
     *     Default: only the limit of the server.
     */
    record Method(@Nullable String maxConcurrency) {}

    /**
     * TLS on the port.
     *
     * @param bundle SSL bundle with key and certificate of the server, and the authorities that it trusts. Default: no
     *     TLS.
     * @param clientAuth Whether clients are asked for a certificate (want) or refused without one (need).
     * @param optional Whether connections without TLS are also accepted, for example while clients are migrated.
     */
    record Ssl(
            @Nullable String bundle,
            @DefaultValue("none") ClientAuth clientAuth,
            @DefaultValue("false") boolean optional) {}

    /**
     * HTTP requests whose bodies are not JSON.
     *
     * @param formBodies Whether arguments may be sent as a form. Browsers send forms to other sites without asking the
     *     server.
     * @param textBodies Whether the single argument of a method may be sent as plain text. Browsers send plain text to
     *     other sites without asking the server.
     */
    record Http(
            @DefaultValue("false") boolean formBodies,
            @DefaultValue("false") boolean textBodies) {}

    /**
     * Calls from web pages of other origins.
     *
     * @param allowedOrigins Sites whose pages may call the server, such as https://shop.example, or * for all. Default:
     *     none.
     * @param allowedHeaders Headers that pages of the allowed sites may set. Default: all headers.
     * @param allowCredentials Whether browsers may send cookies.
     * @param maxAge Maximum time for which browsers may cache the answer to a preflight request.
     */
    record Cors(
            @DefaultValue List<String> allowedOrigins,
            @DefaultValue List<String> allowedHeaders,
            @DefaultValue("false") boolean allowCredentials,
            @DefaultValue("10m") Duration maxAge) {}
}
