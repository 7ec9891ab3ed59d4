package tern.rpc.client;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallOptions;
import tern.rpc.Deadline;
import tern.rpc.Filter;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.TimeLimit;
import tern.rpc.transport.CallToken;

/**
 * The common properties of all calls through one proxy.
 *
 * @param token the token sent to the server; null for none
 */
record CallTemplate(
        ServiceKey service,
        CallOptions options,
        NanoClock clock,
        @Nullable CallToken token) {

    /** Returns a copy of this template with the given options added. The given options take precedence. */
    CallTemplate with(CallOptions later) {
        return new CallTemplate(service, options.with(later), clock, token);
    }

    /**
     * @param runsOn the executor that decodes the answer and completes stages, see {@link Invocation#executor()}
     * @param serving the call that the current thread serves, whose deadline also applies to the new call; null for
     *     none
     * @throws RpcException CANCELLED if the served call has been cancelled before its deadline
     */
    Invocation invocation(
            ClientMethod method, Object[] arguments, long started, Executor runsOn, @Nullable ServerContext serving) {
        TimeLimit limit = options.limit() == null ? method.endpoints().limit(method) : options.limit();
        Deadline deadline = limit == null ? Deadline.none() : Deadline.of(started, limit);
        if (serving != null && deadline.earlier(serving.deadline()) != deadline) {
            deadline = serving.deadline().handedOnBy(serving.method());
        }
        if (serving != null && serving.isCancelled() && !serving.deadline().isExpired(started)) {
            throw BlockedCall.cancellation(method.descriptor().fullName(), Executed.NO);
        }
        Metadata metadata =
                options.headers().isEmpty() ? new Metadata() : options.headers().copy();
        if (token != null) {
            token.addTo(metadata);
        }
        return new Invocation(service, method.descriptor(), arguments, metadata, deadline, runsOn, options);
    }

    /**
     * Passes the response headers to the consumer in the call options, if there is a consumer. If the consumer throws
     * an exception, the call fails.
     */
    void showHeaders(Metadata headers) {
        Consumer<Metadata> consumer = options.responseHeaders();
        if (consumer != null) {
            consumer.accept(headers);
        }
    }

    /**
     * Passes the response trailers to the consumer in the call options, if there is a consumer. If the consumer throws
     * an exception, the call fails.
     */
    void showTrailers(Metadata trailers) {
        Consumer<Metadata> consumer = options.responseTrailers();
        if (consumer != null) {
            consumer.accept(trailers);
        }
    }

    /**
     * Passes a failure's trailers to the consumer in the call options, if there is a consumer.
     *
     * @return the failure or, if the consumer threw an exception, that exception with the failure as a suppressed
     *     exception
     */
    Throwable showTrailers(Throwable failure) {
        if (failure instanceof RpcException rpc && !rpc.metadata().isEmpty()) {
            try {
                showTrailers(rpc.metadata());
            } catch (Throwable e) {
                if (e != failure) {
                    e.addSuppressed(failure);
                }
                return e;
            }
        }
        return failure;
    }

    static Response requireResponse(ClientMethod method, @Nullable Response response) {
        if (response == null) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    "a filter around " + method.descriptor() + " gave no response; the filters are "
                            + Filter.names(method.filters()));
        }
        return response;
    }

    /**
     * Wraps a checked exception in an {@link RpcException} if the method does not declare the exception. Otherwise, the
     * Java proxy would wrap the exception in another exception without a message.
     */
    static Throwable declared(MethodDescriptor method, Throwable failure) {
        if (failure instanceof RuntimeException || failure instanceof Error || method.declares(failure)) {
            return failure;
        }
        return new RpcException(
                StatusCode.UNKNOWN,
                method + " threw " + Thrown.text(failure) + ", which it does not declare",
                Executed.YES,
                failure);
    }
}
