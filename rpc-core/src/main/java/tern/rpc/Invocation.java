package tern.rpc;

import java.util.concurrent.Executor;

/**
 * One call as filters see it, on the client before it is sent and on the server before the method runs. Filters may
 * change its metadata until they pass the call on. To change anything else, they pass on a copy.
 */
public final class Invocation {

    private final ServiceKey service;
    private final MethodDescriptor method;
    private final Object[] arguments;
    private final Metadata metadata;
    private final Deadline deadline;
    private final Executor executor;
    private final CallOptions options;

    /**
     * @param executor runs the steps after the answer has arrived; if the calling thread waits for the answer, its own
     *     executor
     */
    public Invocation(
            ServiceKey service,
            MethodDescriptor method,
            Object[] arguments,
            Metadata metadata,
            Deadline deadline,
            Executor executor) {
        this(service, method, arguments, metadata, deadline, executor, CallOptions.none());
    }

    /** @param options the options of the proxy that makes the call */
    public Invocation(
            ServiceKey service,
            MethodDescriptor method,
            Object[] arguments,
            Metadata metadata,
            Deadline deadline,
            Executor executor,
            CallOptions options) {
        this.service = service;
        this.method = method;
        this.arguments = arguments;
        this.metadata = metadata;
        this.deadline = deadline;
        this.executor = executor;
        this.options = options;
    }

    /** The interface, group and version. */
    public ServiceKey service() {
        return service;
    }

    public MethodDescriptor method() {
        return method;
    }

    /**
     * The arguments as in the Java signature. The array is not a copy. For a streaming method they include the
     * publisher of requests and the observer of answers, which a filter may wrap.
     */
    public Object[] arguments() {
        return arguments;
    }

    /** The headers of the request. */
    public Metadata metadata() {
        return metadata;
    }

    public Deadline deadline() {
        return deadline;
    }

    /** The executor that decodes answers and completes stages. Never an event loop. */
    public Executor executor() {
        return executor;
    }

    /** Whether requests are compressed, if the protocol can. */
    public boolean isCompressed() {
        return options.isCompressed();
    }

    /** The options of the proxy that makes the call. Filters may have changed headers and timeout since. */
    public CallOptions options() {
        return options;
    }

    public Invocation withArguments(Object... arguments) {
        return new Invocation(service, method, arguments, metadata, deadline, executor, options);
    }

    public Invocation withDeadline(Deadline deadline) {
        return new Invocation(service, method, arguments, metadata, deadline, executor, options);
    }

    public Invocation withExecutor(Executor executor) {
        return new Invocation(service, method, arguments, metadata, deadline, executor, options);
    }

    public Invocation withCompression(boolean compressed) {
        return compressed == options.isCompressed()
                ? this
                : new Invocation(
                        service, method, arguments, metadata, deadline, executor, options.compressed(compressed));
    }

    /** The name of the call, without its arguments. */
    @Override
    public String toString() {
        return method.fullName();
    }
}
