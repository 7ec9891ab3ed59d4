package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServerContext;

/**
 * Threads, event loops and sockets that run one step at a time on the thread of a test, in an order determined by a
 * seed. A step is one task of an event loop, one run of a worker, or one action of a user. Application code can call
 * {@link #pause()} to let other threads run first. The same seed always produces the same order.
 *
 * <p>Time does not advance, and scheduled tasks run only if they have no delay. Code that waits for time to pass
 * therefore hangs, which the test reports as an error.
 */
final class Simulation {

    /** The maximum number of steps. A simulation with more steps is reported as an endless loop. */
    private static final int MAX_STEPS = 200_000;

    private static final int MAX_NESTED = 3;

    /** A simulated thread. Each step of the simulation runs the next task of one thread. */
    private static final class Actor {
        private final String name;
        private final Deque<Runnable> tasks = new ArrayDeque<>();
        private boolean busy; // true while a step of this thread is paused
        private boolean ready; // true if this thread has a next step that can run

        Actor(String name) {
            this.name = name;
        }
    }

    private final Random random;
    private final List<Actor> ready = new ArrayList<>();
    private final StringBuilder trace = new StringBuilder();
    private final boolean traced;
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, true);
    private @Nullable Actor running;
    private @Nullable Runnable runningTask;
    private int nested;
    private int steps;
    private int workers;

    Simulation(long seed, boolean traced) {
        this.random = new Random(seed);
        this.traced = traced;
    }

    Random random() {
        return random;
    }

    /** Returns the steps that have run so far, if they were recorded. */
    String trace() {
        return trace.toString();
    }

    int steps() {
        return steps;
    }

    /** Returns the number of bytes in buffers that have not been released. */
    long heldBytes() {
        return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
    }

    private void add(Actor actor, Runnable task) {
        actor.tasks.add(task);
        if (!actor.ready && !actor.busy) {
            actor.ready = true;
            ready.add(actor);
        }
    }

    /** A simulated thread of the application, which runs its actions in order. */
    interface User {
        void does(Runnable act);
    }

    User user(String name) {
        Actor actor = new Actor(name);
        return act -> add(actor, act);
    }

    /**
     * Creates a worker thread for a thread pool. The thread runs in a single step, which can run once the thread has
     * been started.
     */
    Thread worker(Runnable task) {
        Actor actor = new Actor("worker " + ++workers);
        return new Thread(actor.name) {
            @Override
            public synchronized void start() {
                add(actor, task);
            }
        };
    }

    /** Runs steps until no step is ready. */
    void run() {
        while (!ready.isEmpty()) {
            step();
        }
    }

    private void step() {
        if (++steps > MAX_STEPS) {
            throw new AssertionError("no end after " + MAX_STEPS + " steps");
        }
        int chosen = random.nextInt(ready.size());
        Actor actor = ready.get(chosen);
        ready.set(chosen, ready.get(ready.size() - 1));
        ready.remove(ready.size() - 1);
        actor.ready = false;
        actor.busy = true;
        Actor before = running;
        Runnable taskBefore = runningTask;
        ServerContext contextBefore = ServerContext.replace(null);
        running = actor;
        runningTask = Objects.requireNonNull(actor.tasks.poll());
        if (traced) {
            trace.append("  ".repeat(nested)).append(actor.name).append('\n');
        }
        try {
            runningTask.run();
        } finally {
            running = before;
            runningTask = taskBefore;
            ServerContext.replace(contextBefore);
            actor.busy = false;
            if (!actor.tasks.isEmpty()) {
                actor.ready = true;
                ready.add(actor);
            }
        }
    }

    /**
     * Called by application code to let other threads run first. The caller must not hold a lock. One real thread runs
     * all simulated threads, so the lock would not exclude the other simulated threads.
     */
    void pause() {
        if (nested == MAX_NESTED || running == null) {
            return;
        }
        nested++;
        for (int left = random.nextInt(4); left > 0 && !ready.isEmpty(); left--) {
            step();
        }
        nested--;
    }

    /** Returns the running task. The task is the same object that was passed to the event loop. */
    @Nullable
    Runnable runningTask() {
        return runningTask;
    }

    /** An event loop for {@link Socket} channels. */
    final class Loop extends AbstractScheduledEventExecutor implements EventLoop {

        private final Actor actor;

        Loop(String name) {
            this.actor = new Actor(name);
        }

        @Override
        public void execute(Runnable task) {
            add(actor, task);
        }

        @Override
        protected long getCurrentTimeNanos() {
            return 0;
        }

        /** Submits the task if it has no delay; otherwise ignores it. */
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            ScheduledFuture<?> scheduled = super.schedule(task, delay, unit);
            execute(() -> {
                Runnable due = pollScheduledTask(0);
                if (due != null) {
                    due.run();
                }
            });
            return scheduled;
        }

        /** Returns the newest task in this event loop's queue; null if the queue is empty. */
        @Nullable
        Runnable newest() {
            return actor.tasks.peekLast();
        }

        @Override
        public boolean inEventLoop(Thread thread) {
            return running == actor;
        }

        @Override
        public EventLoopGroup parent() {
            return this;
        }

        @Override
        public EventLoop next() {
            return this;
        }

        @Override
        public ChannelFuture register(Channel channel) {
            return register(new DefaultChannelPromise(channel, this));
        }

        @Override
        public ChannelFuture register(ChannelPromise promise) {
            promise.channel().unsafe().register(this, promise);
            return promise;
        }

        @Override
        @Deprecated
        public ChannelFuture register(Channel channel, ChannelPromise promise) {
            channel.unsafe().register(this, promise);
            return promise;
        }

        @Override
        public boolean isShuttingDown() {
            return false;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }

        @Override
        public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<?> terminationFuture() {
            throw new UnsupportedOperationException();
        }

        @Override
        @Deprecated
        public void shutdown() {
            throw new UnsupportedOperationException();
        }
    }

    /**
     * One end of a connection. Written bytes wait until the other end reads them in pieces; the number of waiting bytes
     * is limited.
     */
    final class Socket extends AbstractChannel {

        private final int capacity;
        private final DefaultChannelConfig config = new DefaultChannelConfig(this);
        private final ByteBuf arrived = Unpooled.buffer();
        private @Nullable Socket peer;
        private boolean open = true;
        private boolean active;
        private boolean wantsToRead;
        private boolean reading; // true while the event loop's queue contains a task that reads from this socket
        private boolean blocked; // true if a write stopped because the other end's buffer was full
        private boolean ended; // true if the other end of the connection is closed

        /** @param capacity the maximum number of bytes waiting to be read by this end */
        Socket(int capacity) {
            super(null);
            this.capacity = capacity;
            config.setAllocator(allocator);
        }

        /** Connects two sockets and registers each with its event loop. */
        static void connect(Socket one, Loop loop, Socket other, Loop otherLoop) {
            one.peer = other;
            other.peer = one;
            loop.execute(() -> one.open(loop));
            otherLoop.execute(() -> other.open(otherLoop));
        }

        private void open(Loop loop) {
            active = true;
            loop.register(this);
        }

        private Socket peer() {
            return Objects.requireNonNull(peer);
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer out) {
            Socket to = peer();
            while (true) {
                ByteBuf bytes = (ByteBuf) out.current();
                if (bytes == null) {
                    break;
                }
                int room = to.open ? to.capacity - to.arrived.readableBytes() : Integer.MAX_VALUE;
                int written = Math.min(room, bytes.readableBytes());
                if (written == 0 && bytes.isReadable()) {
                    blocked = true;
                    break;
                }
                if (to.open) {
                    to.arrived.writeBytes(bytes, bytes.readerIndex(), written);
                }
                if (written == bytes.readableBytes()) {
                    out.remove();
                } else {
                    bytes.skipBytes(written);
                    out.progress(written);
                }
            }
            to.readLater();
        }

        @Override
        protected void doBeginRead() {
            wantsToRead = true;
            readLater();
        }

        private void readLater() {
            if (open && wantsToRead && !reading && isRegistered() && (arrived.isReadable() || ended)) {
                reading = true;
                eventLoop().execute(this::read0);
            }
        }

        private void read0() {
            reading = false;
            if (!open || !wantsToRead) {
                return;
            }
            wantsToRead = false;
            if (!arrived.isReadable()) {
                // the close bypasses the outbound handlers, as for a real socket whose peer has closed the connection
                unsafe().close(voidPromise());
                return;
            }
            int most = arrived.readableBytes();
            int length = random.nextInt(3) == 0 ? 1 + random.nextInt(most) : most;
            ByteBuf piece = alloc().heapBuffer(length).writeBytes(arrived, length);
            arrived.discardReadBytes();
            Socket from = peer();
            if (from.blocked) {
                from.blocked = false;
                from.eventLoop().execute(() -> from.unsafe().flush());
            }
            pipeline().fireChannelRead(piece);
            pipeline().fireChannelReadComplete();
            readLater();
        }

        @Override
        protected void doClose() {
            open = false;
            active = false;
            Socket other = peer();
            other.ended = true;
            if (other.isRegistered()) {
                other.eventLoop().execute(other::readLater);
            }
        }

        @Override
        protected AbstractUnsafe newUnsafe() {
            return new AbstractUnsafe() {
                @Override
                public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
                    throw new UnsupportedOperationException();
                }
            };
        }

        @Override
        protected boolean isCompatible(EventLoop loop) {
            return loop instanceof Loop;
        }

        @Override
        protected SocketAddress localAddress0() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return localAddress0();
        }

        @Override
        protected void doBind(SocketAddress address) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void doDisconnect() {
            doClose();
        }

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public ChannelMetadata metadata() {
            return new ChannelMetadata(false);
        }
    }
}
