package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
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
            do { // the loop can run several tasks before it waits for sockets again
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
     * Workers that serve streams add tasks constantly. New requests must not wait until all of these tasks have run.
     */
    @Test
    void socketsAreReadWhileTasksAreAddedAllTheTime() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        try (Group group = new Group(counting(looks))) {
            AtomicInteger tasks = new AtomicInteger();
            IoEventLoop loop = group.next();
            int[] mostInARow = new int[1];
            // two numbers: how many polls had been made when the last task ran, and how many tasks have run since the
            // last poll
            int[] last = new int[2];
            CompletableFuture<Void> done = new CompletableFuture<>();
            loop.execute(new Runnable() {
                @Override
                public void run() {
                    spin(TimeUnit.MICROSECONDS.toNanos(200));
                    last[1] = looks.get() == last[0] ? last[1] + 1 : 0;
                    last[0] = looks.get();
                    mostInARow[0] = Math.max(mostInARow[0], last[1]);
                    if (tasks.incrementAndGet() < 1_000) {
                        loop.execute(this);
                    } else {
                        done.complete(null);
                    }
                }
            });
            done.get(30, TimeUnit.SECONDS);

            assertThat(mostInARow[0]).isLessThanOrEqualTo(64); // Netty reads the clock after every 64 tasks
        }
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    /** Returns a factory for I/O handlers that count how often they poll the sockets. */
    private static IoHandlerFactory counting(AtomicInteger looks) {
        return handlers(() -> looks.incrementAndGet());
    }

    /**
     * Returns a factory for I/O handlers. The first {@link #ERRORS} times that a handler waits for sockets, it throws
     * an error.
     */
    private static IoHandlerFactory failing(AtomicInteger errors) {
        return handlers(() -> {
            if (errors.getAndIncrement() < ERRORS) {
                throw new OutOfMemoryError("thrown by a test");
            }
        });
    }

    /** @param before runs each time before the handler polls the sockets */
    private static IoHandlerFactory handlers(Runnable before) {
        IoHandlerFactory real = NioIoHandler.newFactory();
        return executor -> {
            IoHandler handler = real.newHandler(executor);
            return (IoHandler) Proxy.newProxyInstance(
                    IoHandler.class.getClassLoader(), new Class<?>[] {IoHandler.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("run")) {
                            before.run();
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
