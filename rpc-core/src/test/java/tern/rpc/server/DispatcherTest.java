package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Share;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServerTransport;

/** Tests that an admitted call releases its permit even if its transport fails. */
class DispatcherTest {

    private final Share share = new Share("tenant");
    private final CompletableFuture<CallHandler> handler = new CompletableFuture<>();
    private final RpcServer server = RpcServer.builder(transport())
            .workers(1, 1)
            .limit(() -> new FixedLimit(2))
            .build();

    @AfterEach
    void close() {
        server.close();
    }

    private ServerTransport transport() {
        return (ServerTransport) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ServerTransport.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("start")) {
                        handler.complete((CallHandler) arguments[0]);
                    }
                    if (method.getReturnType() == int.class) {
                        return 0;
                    }
                    return method.getReturnType() == long.class ? 0L : null;
                });
    }

    /** Returns a call whose transport runs out of memory when the given method is called. */
    private ServerCall failing(String failing) {
        return (ServerCall) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ServerCall.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(failing)) {
                        throw new OutOfMemoryError("injected");
                    }
                    return switch (method.getName()) {
                        case "receivedNanos" -> System.nanoTime();
                        case "service" -> null;
                        case "share" -> share;
                        case "deadline" -> Deadline.none();
                        case "isOpen" -> true;
                        default -> throw new AssertionError("the call was refused: " + method.getName());
                    };
                });
    }

    @Test
    void callThatCannotBeWatchedReleasesItsPermit() {
        server.start();
        for (String failing : new String[] {"watch", "deadline"}) {
            for (int i = 0; i < 10; i++) {
                assertThatThrownBy(() -> handler.join().handle(failing(failing)))
                        .isInstanceOf(OutOfMemoryError.class)
                        .hasMessage("injected");
            }
        }

        assertThat(share.held()).isZero();
    }
}
