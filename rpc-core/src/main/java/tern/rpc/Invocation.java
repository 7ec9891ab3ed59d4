package tern.rpc;

import java.util.concurrent.Executor;

/**
 * One call as filters see it, on the client before it is sent and on the server before the method runs. Its metadata
 * may be changed until the call is passed on; everything else is changed by passing on a copy.
 */
public final class Invocation {

    private final ServiceKey service;
    private final MethodDescriptor method;
    private final Object[] arguments;
    private final Metadata metadata;
    private final Deadline deadline;
    private final Executor executor;
    private final boolean compressed;

    /** @param executor runs what is to happen when the answer has come; the calling thread's own, where it waits */
    public Invocation(
            ServiceKey service,
            MethodDescriptor method,
            Object[] arguments,
            Metadata metadata,
            Deadline deadline,
            Executor executor) {
        this(service, method, arguments, metadata, deadline, executor, false);
    }

    private Invocation(
            ServiceKey service,
            MethodDescriptor method,
            Object[] arguments,
            Metadata metadata,
            Deadline deadline,
            Executor executor,
            boolean compressed) {
        this.service = service;
        this.method = method;
        this.arguments = arguments;
        this.metadata = metadata;
        this.deadline = deadline;
        this.executor = executor;
        this.compressed = compressed;
    }

    /** Interface, group and version. */
    public ServiceKey service() {
        return service;
    }

    public MethodDescriptor method() {
        return method;
    }

    /**
     * Not a copy; as the Java method takes them. Of a streaming method that means the publisher of requests and the
     * observer of answers too, which a filter may wrap.
     */
    public Object[] arguments() {
        return arguments;
    }

    /** Headers of the request. */
    public Metadata metadata() {
        return metadata;
    }

    public Deadline deadline() {
        return deadline;
    }

    /** Where answers are decoded and stages complete; never a thread that moves bytes. */
    public Executor executor() {
        return executor;
    }

    /** Whether requests are to travel compressed, where the protocol can. */
    public boolean isCompressed() {
        return compressed;
    }

    public Invocation withArguments(Object... replaced) {
        return new Invocation(service, method, replaced, metadata, deadline, executor, compressed);
    }

    public Invocation withDeadline(Deadline replaced) {
        return new Invocation(service, method, arguments, metadata, replaced, executor, compressed);
    }

    public Invocation withExecutor(Executor replaced) {
        return new Invocation(service, method, arguments, metadata, deadline, replaced, compressed);
    }

    public Invocation withCompression(boolean replaced) {
        return replaced == compressed
                ? this
                : new Invocation(service, method, arguments, metadata, deadline, executor, replaced);
    }

    /** Names the call, never its arguments. */
    @Override
    public String toString() {
        return method.fullName();
    }
}
