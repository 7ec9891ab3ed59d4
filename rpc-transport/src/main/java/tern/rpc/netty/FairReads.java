package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Limits how long one connection occupies its event loop before other connections are read. Netty alone reads up to 16
 * buffers of 64 KiB in a row. A peer that fills these buffers with tiny frames would occupy the event loop for hundreds
 * of milliseconds, although each frame is cheap and within all limits. Once a connection has occupied the event loop
 * for {@link #TURN_NANOS}, other connections are read first. A connection whose previous bytes took a long time gets a
 * smaller buffer for its next read. If many connections are busy, turns are shorter, so that every connection gets a
 * turn within about {@link #ROUND_NANOS}. If many connections from one address are busy, only the turns of these
 * connections become shorter.
 *
 * <p>Netty estimates the buffer sizes as usual. The time of a small read that leaves its buffer partly empty is not
 * measured, but estimated from the number of bytes. {@link LoopShares} divides the time of an event loop among
 * addresses.
 */
final class FairReads implements RecvByteBufAllocator {

    /**
     * While only one connection is busy, it may occupy the event loop for this time, which is called its turn, before
     * other connections are read. A few busy connections share this time. The turn is long enough for the small calls
     * of 200 callers. With turns of 250 µs, half as many calls were read and answered together, and Triple used a third
     * more processor time.
     */
    static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /**
     * The maximum turn while eight or more connections are busy. A turn is the time for which a connection may occupy
     * the event loop before other connections are read. Shorter turns use smaller buffers.
     */
    private static final long LARGE_BUFFER_NANOS = TimeUnit.MICROSECONDS.toNanos(250);

    static final long MIN_TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(25);

    static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /**
     * A connection that has occupied the event loop until other connections had to be read first counts as busy for at
     * least one and at most two of these periods.
     */
    static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * The allocator of the receive buffers of all connections. The allocator is shared because clients and servers
     * share the event loops.
     */
    static final FairReads SHARED = new FairReads(NanoClock.SYSTEM);

    /** Netty's default for the maximum number of consecutive reads from a TCP channel. */
    static final int MAX_READS_IN_A_ROW = 16;

    static final int MIN_BYTES = 128;

    /**
     * The minimum size of a read that is always measured. Smaller reads are measured only if they fill their buffer,
     * because reading the clock would slow down small calls.
     */
    static final int MEASURED_BYTES = 1 << 10;

    /**
     * The maximum size of a connection's first buffer. The buffer is small, because many new connections might send
     * expensive bytes at the same time.
     */
    static final int FIRST_BYTES = 4 << 10;

    static final int MAX_BYTES = AdaptiveRecvByteBufAllocator.DEFAULT_MAXIMUM;

    /**
     * The estimated time for one read from a socket, including the work before and after the bytes are processed. The
     * time is also the minimum charge for a read, so that tiny reads are not free.
     */
    static final long READ_NANOS = TimeUnit.MICROSECONDS.toNanos(8);

    /** The estimated time for each byte of a read that is not measured. */
    static final long BYTE_NANOS = 40;

    private final NanoClock clock;
    private final FastThreadLocal<BusyNetworks> busy = new FastThreadLocal<>() {
        @Override
        protected BusyNetworks initialValue() {
            return new BusyNetworks(clock.nanoTime());
        }
    };
    private final RecvByteBufAllocator sizes =
            new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(MAX_READS_IN_A_ROW);

    FairReads(NanoClock clock) {
        this.clock = clock;
    }

    @Override
    @SuppressWarnings("deprecation") // Netty requires the deprecated type Handle
    public Handle newHandle() {
        return newHandle(null);
    }

    /**
     * @param reading is notified each time the connection stops reading and other connections are read; null for a
     *     client's connection
     */
    @SuppressWarnings("deprecation") // Netty requires the deprecated type Handle
    Handle newHandle(@Nullable SocketReading reading) {
        return new Turns((ExtendedHandle) sizes.newHandle(), reading);
    }

    /**
     * Counts the client addresses whose connections have recently occupied the event loop until other connections had
     * to be read first. The outgoing connections of this process count as one address. Confined to this event loop.
     */
    private static final class BusyNetworks {

        private final BusyNetwork clients = new BusyNetwork();
        private int period = 1;
        private long sinceNanos;
        private int now;
        private int before; // the number of busy addresses in the previous period of 100 ms

        BusyNetworks(long nanos) {
            sinceNanos = nanos;
        }

        void add(Turns turns, long nanos) {
            if (nanos - sinceNanos >= BUSY_NANOS) {
                boolean followed = nanos - sinceNanos < 2 * BUSY_NANOS;
                before = followed ? now : 0;
                now = 0;
                sinceNanos = nanos;
                period += followed ? 1 : 2;
            }
            if (turns.busyIn != period) {
                turns.busyIn = period;
                if (of(turns).add(period)) {
                    now++;
                }
            }
        }

        /**
         * Returns the turn: the time for which the connection may occupy the event loop before other connections are
         * read. Only two numbers make the turn shorter: the busy connections from the same address, and the other busy
         * addresses. If the busy connections from other addresses also counted, an address with many busy connections
         * would slow down all other addresses.
         */
        long turnNanos(Turns turns) {
            int count = Math.max(1, of(turns).connections(period)) * Math.max(1, Math.max(now, before));
            long shared = Math.max(TURN_NANOS / count, Math.min(LARGE_BUFFER_NANOS, ROUND_NANOS / count));
            return Math.max(MIN_TURN_NANOS, shared);
        }

        private BusyNetwork of(Turns turns) {
            return turns.network == null ? clients : turns.network;
        }
    }

    /** Counts the busy connections from one address. Confined to the event loop of these connections. */
    static final class BusyNetwork {

        private int period;
        private int now;
        private int before; // the number of busy connections in the previous period of 100 ms

        /**
         * Counts a busy connection. Returns whether it is the first busy connection from this address in the current
         * period.
         */
        private boolean add(int current) {
            begin(current);
            return now++ == 0;
        }

        private int connections(int current) {
            begin(current);
            return Math.max(now, before);
        }

        private void begin(int current) {
            if (period != current) {
                before = period == current - 1 ? now : 0;
                now = 0;
                period = current;
            }
        }
    }

    /** The reads of one connection. Confined to its event loop. */
    private final class Turns extends DelegatingHandle implements ExtendedHandle {

        private final ExtendedHandle sizes;
        private final @Nullable SocketReading reading;
        // counts the busy connections from the peer's address; null for a client, or if the event loop does not divide
        // its time among addresses
        private final @Nullable BusyNetwork network;
        private int limit = FIRST_BYTES;
        private boolean measured; // true if the most recent read is being timed
        // true if at least one read has been timed since the event loop began to read this connection
        private boolean begun;
        private long turnNanos;
        private long readNanos;
        // the time for which this connection has occupied the event loop in the current turn, partly measured and
        // partly estimated
        private long usedNanos;
        private int busyIn; // the last period of 100 ms in which this connection was busy

        Turns(ExtendedHandle sizes, @Nullable SocketReading reading) {
            super(sizes);
            this.sizes = sizes;
            this.reading = reading;
            this.network = reading == null ? null : reading.busyNetwork();
        }

        @Override
        public void reset(ChannelConfig config) {
            super.reset(config);
            begun = false;
            measured = false;
            usedNanos = 0;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            return allocator.ioBuffer(guess());
        }

        @Override
        public int guess() {
            return Math.min(super.guess(), limit);
        }

        @Override
        public void lastBytesRead(int bytes) {
            super.lastBytesRead(bytes);
            measured = bytes > 0 && bytes >= Math.min(attemptedBytesRead(), MEASURED_BYTES);
            if (measured) {
                readNanos = clock.nanoTime();
                if (!begun) {
                    begun = true;
                    turnNanos = readNanos;
                }
            }
            if (bytes > 0) {
                usedNanos += measured ? READ_NANOS : READ_NANOS + bytes * BYTE_NANOS;
            }
        }

        @Override
        public void readComplete() {
            super.readComplete();
            if (reading != null && usedNanos > 0) {
                reading.used(usedNanos);
            }
        }

        @Override
        public boolean continueReading() {
            return hasTime() && super.continueReading();
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
            return hasTime() && sizes.continueReading(maybeMore);
        }

        private boolean hasTime() {
            if (!measured) {
                return true;
            }
            long now = clock.nanoTime();
            BusyNetworks others = busy.get();
            long turn = others.turnNanos(this);
            usedNanos += now - readNanos;
            fitLimit(now - readNanos, turn);
            if (now - turnNanos < turn) {
                return true;
            }
            others.add(this, now);
            return false;
        }

        /** @param took how long the event loop processed the bytes of the previous read */
        private void fitLimit(long took, long turn) {
            if (took > turn) {
                limit = (int) Math.max(MIN_BYTES, lastBytesRead() * turn / took);
            } else if (took < turn / 2) {
                limit = Math.min(MAX_BYTES, 2 * limit);
            }
            // While many connections are busy, every connection gets a small buffer, because its next bytes might take
            // long to process.
            limit = (int) Math.min(limit, MAX_BYTES * turn / LARGE_BUFFER_NANOS);
        }
    }
}
