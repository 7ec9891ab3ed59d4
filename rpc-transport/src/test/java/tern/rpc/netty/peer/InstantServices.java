package tern.rpc.netty.peer;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

/** Implements the service of the captured calls. Its methods return immediately. */
public final class InstantServices {

    private InstantServices() {}

    public static GreetService greet() {
        GreetServer server = new GreetServer();
        return (GreetService) Proxy.newProxyInstance(
                GreetService.class.getClassLoader(),
                new Class<?>[] {GreetService.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "slow" -> "slow";
                    case "async" -> CompletableFuture.completedFuture("async");
                    case "nothing", "oneway" -> null;
                    default -> {
                        try {
                            yield method.invoke(server, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }
                });
    }
}
