package tern.rpc;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;

/**
 * A call as filters see it: on the client before the call is sent, on the server before the method runs. A filter may
 * change the metadata before it passes the call on. To change anything else, the filter passes on a changed copy of the
 * call.
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
     * @param executor the executor that decodes the answer and completes stages; it runs tasks on the calling thread if
     *     that thread blocks until the answer arrives
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

    /** Returns the interface, group and version of the called service. */
    public ServiceKey service() {
        return service;
    }

    public MethodDescriptor method() {
        return method;
    }

    /**
     * Returns the arguments in the order of the Java signature. The array is not a copy. For a streaming method, the
     * array includes the publisher of requests and the observer of answers. A filter may wrap both objects.
     */
    public Object[] arguments() {
        return arguments;
    }

    /** Returns the request's headers. */
    public Metadata metadata() {
        return metadata;
    }

    /** Returns the time when the caller stops waiting; {@link Deadline#none()} if the call has no time limit. */
    public Deadline deadline() {
        return deadline;
    }

    /**
     * Returns the executor that decodes answers and completes stages. This executor never runs a task on an event loop.
     */
    public Executor executor() {
        return executor;
    }

    /** Returns whether requests are compressed if the protocol supports compression. */
    public boolean isCompressed() {
        return options.isCompressed();
    }

    /**
     * Returns the options of the proxy that makes the call. Filters may have replaced the headers and the timeout for
     * this call.
     */
    public CallOptions options() {
        return options;
    }

    /**
     * Returns a copy of this invocation with the given arguments, one for each parameter of the Java method.
     *
     * @throws IllegalArgumentException if the Java method has a different number of parameters
     */
    public Invocation withArguments(Object... arguments) {
        Method java = method.javaMethod();
        if (java != null && arguments.length != java.getParameterCount()) {
            throw new IllegalArgumentException("withArguments got " + arguments.length + " arguments, but " + method
                    + " has " + java.getParameterCount() + " parameters");
        }
        return withValues(arguments);
    }

    /**
     * Returns a copy of this invocation with the given arguments. There may be more or fewer arguments than the Java
     * method has parameters. For example, a request message does not contain the observer that receives the answers.
     */
    public Invocation withValues(Object... arguments) {
        return new Invocation(service, method, arguments, metadata, deadline, executor, options);
    }

    public Invocation withMetadata(Metadata metadata) {
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

    /** Returns the names of the service and the method, without arguments. */
    @Override
    public String toString() {
        return method.fullName();
    }
}
