package tern.rpc.netty;

import com.example.wire.GreetService;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.transport.PendingCall;

/** Creates pending calls, for tests of the layers below the proxies. */
final class Pending {

    private static final MethodDescriptor ECHO =
            ServiceDescriptor.of(GreetService.class).overloads("echo").get(0);

    private Pending() {}

    static Invocation echo(@Nullable String text, Deadline deadline) {
        return new Invocation(
                new ServiceKey(GreetService.class.getName(), "", ""),
                ECHO,
                new Object[] {text},
                new Metadata(),
                deadline,
                Runnable::run);
    }

    static PendingCall call(Deadline deadline, PendingCall.@Nullable Completion completion) {
        return new PendingCall(echo("x", deadline), false, System.nanoTime(), completion);
    }

    static PendingCall call() {
        return call(Deadline.none(), null);
    }
}
