package tern.rpc.registry.dubbo.metadata;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.MetadataAddress;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProcessMetadata;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.PendingCall;

/**
 * Calls the metadata service of Dubbo providers, in version 1.0.0 with hessian2 and in version 2.0.0 with protobuf.
 * Each call uses its own connection, which is closed afterwards. Calls contain no token, because anyone with write
 * access to the registry can set the address. Thread-safe.
 */
public final class MetadataClient implements ProcessMetadata {

    /** The time limit of a call, including the time to connect. */
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    private static final ServiceDescriptor FIRST = ServiceDescriptor.of(MetadataService.class);

    private final Supplier<List<ClientTransport>> transports;
    private final Executor decoding = decodingThread();

    /**
     * Creates a client.
     *
     * @param transports returns the application's transports, at most one for each protocol; invoked for each call
     */
    public MetadataClient(Supplier<List<ClientTransport>> transports) {
        this.transports = transports;
    }

    /** Returns an executor with one thread. The thread ends when it is idle. */
    private static Executor decodingThread() {
        ThreadPoolExecutor made = new ThreadPoolExecutor(
                1, 1, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), DaemonThreads.named("rpc-metadata"));
        made.allowCoreThreadTimeOut(true);
        return made;
    }

    @Override
    public CompletableFuture<ApplicationMetadata> of(ProcessEntry process) {
        CompletableFuture<ApplicationMetadata> answer = new CompletableFuture<>();
        try {
            call(process, MetadataAddress.of(process), answer);
            // Either the transport is closed, or the registry entry of the process is invalid.
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
        return answer;
    }

    private void call(ProcessEntry process, MetadataAddress address, CompletableFuture<ApplicationMetadata> answer) {
        Endpoint endpoint = new Endpoint(address.host(), address.port());
        // some addresses cannot belong to a provider: for example, a connection to 0.0.0.0 would reach this machine
        if (!endpoint.mayBeProvider()) {
            throw new IllegalArgumentException(endpoint + " cannot be a provider");
        }
        ClientTransport transport = transport(address.protocol());
        boolean second = address.version().equals(MetadataMessages.VERSION);
        ServiceDescriptor service = second ? MetadataMessages.SERVICE : FIRST;
        transport.prepare(service);
        ClientConnection connection = transport.connect(endpoint, 1, null);
        PendingCall pending = new PendingCall(
                new Invocation(
                        new ServiceKey(service.name(), process.application(), address.version()),
                        method(service),
                        new Object[] {second ? MetadataMessages.request(process.revision()) : process.revision()},
                        new Metadata(),
                        Deadline.after(TIMEOUT),
                        decoding),
                false,
                System.nanoTime(),
                (response, failure) -> {
                    if (failure == null) {
                        decode(Objects.requireNonNull(response).value(), answer);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                });
        // An open connection fails the call at the call's deadline. The additional time limit ends the call even if the
        // connection is never opened.
        answer.orTimeout(TIMEOUT.toMillis() + 500, TimeUnit.MILLISECONDS).whenComplete((metadata, failure) -> {
            pending.fail(
                    new RpcException(StatusCode.CANCELLED, pending + " is not needed any more", Executed.MAYBE, null));
            connection.close();
        });
        connection.send(pending);
    }

    private ClientTransport transport(String protocol) {
        return transports.get().stream()
                .filter(each -> each.protocol().equals(protocol))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the metadata service of the provider uses the protocol '"
                        + Limits.shown(protocol) + "', which this client does not have"));
    }

    private static MethodDescriptor method(ServiceDescriptor service) {
        return service.methods().get(0);
    }

    private static void decode(@Nullable Object value, CompletableFuture<ApplicationMetadata> answer) {
        try {
            if (value instanceof byte[] bytes) {
                answer.complete(MetadataMessages.metadata(bytes));
            } else if (value instanceof WireMetadata metadata) {
                answer.complete(metadata.read());
            } else {
                answer.completeExceptionally(new IllegalStateException("the provider does not know its revision"));
            }
        } catch (RuntimeException e) { // The response exceeds the limits or is not the expected message.
            answer.completeExceptionally(e);
        }
    }
}
