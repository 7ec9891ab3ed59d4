package tern.rpc.grpc;

import io.grpc.Context;
import io.grpc.ServerMethodDefinition;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.server.MethodBody;

/** Starts the calls to one gRPC service method. */
final class GrpcMethod<Q, A> implements MethodBody {

    private final ServerMethodDefinition<Q, A> definition;
    private final Messages<Q, A> messages;
    private final ScheduledExecutorService timer;

    private GrpcMethod(ServerMethodDefinition<Q, A> definition, ScheduledExecutorService timer) {
        this.definition = definition;
        this.messages = Messages.of(definition.getMethodDescriptor());
        this.timer = timer;
    }

    static <Q, A> GrpcMethod<Q, A> of(ServerMethodDefinition<Q, A> definition, ScheduledExecutorService timer) {
        return new GrpcMethod<>(definition, timer);
    }

    Messages<Q, A> messages() {
        return messages;
    }

    @Override
    @SuppressWarnings("unchecked")
    public @Nullable Object run(Object[] arguments) {
        ServerContext serving = ServerContext.current();
        io.grpc.MethodDescriptor<Q, A> method = definition.getMethodDescriptor();
        if (serving == null) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    method.getFullMethodName() + " was started on a thread without ServerContext; a filter that changes"
                            + " threads passes it on with ServerContext.wrap");
        }
        Flow.Publisher<Object> requests = method.getType().clientSendsOneMessage()
                ? new OneRequest(arguments[0])
                : (Flow.Publisher<Object>) arguments[0];
        if (method.getType().serverSendsOneMessage()) {
            boolean takesStream = !method.getType().clientSendsOneMessage();
            OneAnswer answer = new OneAnswer(method.getFullMethodName(), serving, takesStream);
            new GrpcCall<>(method, messages, serving, context(serving), answer)
                    .start(definition.getServerCallHandler(), requests);
            return answer.stage();
        }
        Answers answers = new ManyAnswers((StreamObserver<Object>) arguments[1], serving);
        new GrpcCall<>(method, messages, serving, context(serving), answers)
                .start(definition.getServerCallHandler(), requests);
        return null;
    }

    private Context.CancellableContext context(ServerContext serving) {
        Deadline deadline = serving.deadline();
        if (!deadline.isLimited()) {
            return Context.ROOT.withCancellation();
        }
        long remaining = deadline.remainingNanos(System.nanoTime());
        return Context.ROOT.withDeadline(io.grpc.Deadline.after(remaining, TimeUnit.NANOSECONDS), timer);
    }
}
