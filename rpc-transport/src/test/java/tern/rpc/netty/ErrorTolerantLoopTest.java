package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that an event loop continues after an error. */
@Timeout(60)
class ErrorTolerantLoopTest {

    private static final int ERRORS = 3;

    @Test
    void loopContinuesAfterErrorsWhileItWaitsForSockets() throws Exception {
        AtomicInteger errors = new AtomicInteger();
        try (Group group = new Group(failing(errors))) {
            do { // the loop may run several tasks before it waits for sockets again
                assertThat(group.next().submit(() -> "done").get(10, TimeUnit.SECONDS))
                        .isEqualTo("done");
            } while (errors.get() <= ERRORS);
        }
    }

    @Test
    void loopContinuesAfterAnErrorOfATask() throws Exception {
        try (Group group = new Group(NioIoHandler.newFactory())) {
            group.next().execute(() -> {
                throw new OutOfMemoryError("thrown by a test");
            });
            assertThat(group.next().submit(() -> "done").get(10, TimeUnit.SECONDS))
                    .isEqualTo("done");
        }
    }

    /**
     * Returns a factory for I/O handlers. The first {@link #ERRORS} times that a handler waits for sockets, it throws
     * an error.
     */
    private static IoHandlerFactory failing(AtomicInteger errors) {
        IoHandlerFactory real = NioIoHandler.newFactory();
        return executor -> {
            IoHandler handler = real.newHandler(executor);
            return (IoHandler) Proxy.newProxyInstance(
                    IoHandler.class.getClassLoader(), new Class<?>[] {IoHandler.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("run") && errors.getAndIncrement() < ERRORS) {
                            throw new OutOfMemoryError("thrown by a test");
                        }
                        try {
                            return method.invoke(handler, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
    }

    private static final class Group extends MultiThreadIoEventLoopGroup implements AutoCloseable {

        Group(IoHandlerFactory handlers) {
            super(1, (Executor) null, handlers);
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
            return new ErrorTolerantLoop(this, executor, handlers);
        }

        @Override
        public void close() {
            shutdownGracefully(0, 2, TimeUnit.SECONDS);
        }
    }
}
