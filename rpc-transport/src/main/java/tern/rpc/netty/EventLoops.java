package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.EventLoopThread;

/**
 * The event loop threads of a process, shared by clients and servers. Their names are {@code rpc-io-1}, {@code
 * rpc-io-2} and so on. The threads use epoll if Netty's native epoll jar is on the class path; otherwise they use NIO.
 * Thread-safe.
 */
public final class EventLoops implements AutoCloseable {

    /** The maximum number of host names that are looked up at the same time. */
    private static final int MAX_LOOKUPS = 4;

    private static final long LOOKUP_IDLE_SECONDS = 5;

    /** The I/O mechanism that the threads use to wait for sockets. */
    private enum Kind {
        NIO("nio"),
        EPOLL("epoll");

        final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    private final Kind kind;
    private final EventLoopGroup group;
    private final ThreadPoolExecutor lookups = new ThreadPoolExecutor(
            MAX_LOOKUPS,
            MAX_LOOKUPS,
            LOOKUP_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new DefaultThreadFactory("rpc-lookup", true));

    private EventLoops(Kind kind, IoHandlerFactory handlers, int threads) {
        this.kind = kind;
        this.group = new Group(threads, handlers);
        lookups.allowCoreThreadTimeOut(true);
    }

    /** @param threads the number of threads; 0 for one thread per processor, but at most eight threads */
    public static EventLoops start(int threads) {
        int count = threads > 0 ? threads : Math.min(8, Runtime.getRuntime().availableProcessors());
        return isEpollAvailable()
                ? new EventLoops(Kind.EPOLL, EpollIoHandler.newFactory(), count)
                : new EventLoops(Kind.NIO, NioIoHandler.newFactory(), count);
    }

    private static boolean isEpollAvailable() {
        try {
            return Epoll.isAvailable();
        } catch (NoClassDefFoundError e) {
            return false; // Netty's optional native jar is not on the class path
        }
    }

    /** Returns the name of the threads' I/O mechanism: {@code nio} or {@code epoll}. */
    public String kind() {
        return kind.label;
    }

    /** Returns whether the threads use epoll; otherwise they use NIO. */
    boolean isEpoll() {
        return kind == Kind.EPOLL;
    }

    EventLoopGroup group() {
        return group;
    }

    /**
     * Returns the executor for host name lookups, which block. The executor has threads only while there are lookups.
     */
    Executor lookups() {
        return lookups;
    }

    Class<? extends Channel> socketChannel() {
        return kind == Kind.EPOLL ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    Class<? extends ServerChannel> serverChannel() {
        return kind == Kind.EPOLL ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Runs a task on the event loop, or on the calling thread if the event loop is not known yet or has ended. */
    static void run(@Nullable EventLoop loop, Runnable task) {
        if (loop == null || loop.inEventLoop() || loop.isShuttingDown()) {
            task.run();
            return;
        }
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) { // the event loop has terminated just now and accepts no tasks
            task.run();
        }
    }

    /** Shuts down the threads without waiting for them to end. */
    @Override
    public void close() {
        lookups.shutdown();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS);
    }

    private static final class Group extends MultiThreadIoEventLoopGroup {

        Group(int threads, IoHandlerFactory handlers) {
            super(threads, new Threads(), handlers);
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
            return new ErrorTolerantLoop(this, executor, handlers);
        }
    }

    /** Creates threads that implement {@link EventLoopThread}. */
    private static final class Threads extends DefaultThreadFactory {

        Threads() {
            super("rpc-io", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            return new Loop(threadGroup, task, name);
        }
    }

    private static final class Loop extends FastThreadLocalThread implements EventLoopThread {
        Loop(@Nullable ThreadGroup group, Runnable task, String name) {
            super(group, task, name);
        }
    }
}
