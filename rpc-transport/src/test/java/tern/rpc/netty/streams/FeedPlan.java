package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The plan of one stream.
 *
 * @param way direction of the stream
 * @param id id of the stream on its connection; it also selects the Java shapes of both sides
 * @param messages number of messages
 * @param bytes size of the largest message
 * @param failAt number of messages after which the server fails the call; 0 for never
 * @param reading speed of the client's reader
 * @param cancelAt number of messages after which the client cancels; 0 for never
 * @param deadline deadline of the call; null for none
 */
record FeedPlan(
        Way way,
        int id,
        int messages,
        int bytes,
        int failAt,
        Reading reading,
        int cancelAt,
        @Nullable Duration deadline) {

    /** The direction of a stream. */
    enum Way {
        /** The server streams. */
        DOWN,
        /** The client streams and gets one answer. */
        UP,
        /** Both stream; each request is sent back. */
        BOTH
    }

    /** The speed of a client's reader. */
    enum Reading {
        /** Reads answers when they arrive. */
        EAGER,
        /** Requests the next answer after each one, on a thread that all such streams share. */
        ONE_BY_ONE,
        /** Reads nothing until the test resumes it. */
        PAUSED
    }

    private static final String FILLER = "0123456789abcdef".repeat((2 << 20) / 16);
    private static final int INDEX_BITS = 32;
    private static final int ID_BITS = 16;
    private static final int ID_MASK = (1 << ID_BITS) - 1;

    static FeedPlan of(Way way, int id, int messages, int bytes) {
        return new FeedPlan(way, id, messages, bytes, 0, Reading.EAGER, 0, null);
    }

    FeedPlan reading(Reading wanted) {
        return new FeedPlan(way, id, messages, bytes, failAt, wanted, cancelAt, deadline);
    }

    FeedPlan failingAt(int message) {
        return new FeedPlan(way, id, messages, bytes, message, reading, cancelAt, deadline);
    }

    FeedPlan cancelledAt(int message) {
        return new FeedPlan(way, id, messages, bytes, failAt, reading, message, deadline);
    }

    FeedPlan within(Duration time) {
        return new FeedPlan(way, id, messages, bytes, failAt, reading, cancelAt, time);
    }

    /** Returns the length of the text in a message. Lengths vary by up to a half. */
    int sizeOf(int index) {
        return Math.max(1, bytes - index * 31 % (bytes / 2 + 1));
    }

    Entry entry(int index) {
        long amount = ((long) failAt << (INDEX_BITS + ID_BITS)) | ((long) id << INDEX_BITS) | index;
        return Entry.newBuilder()
                .setAccount(FILLER.substring(0, sizeOf(index)))
                .setAmount(amount)
                .build();
    }

    static int indexOf(long amount) {
        return (int) amount;
    }

    static int idOf(long amount) {
        return (int) (amount >>> INDEX_BITS) & ID_MASK;
    }

    static int failAtOf(long amount) {
        return (int) (amount >>> (INDEX_BITS + ID_BITS));
    }

    /** Returns the length of all texts together. */
    long totalBytes() {
        long total = 0;
        for (int i = 0; i < messages; i++) {
            total += sizeOf(i);
        }
        return total;
    }

    /** Returns the part of the plan that the server needs. */
    Period period() {
        return Period.newBuilder()
                .setAccount(id + "/" + bytes + "/" + failAt)
                .setEntries(messages)
                .build();
    }

    static FeedPlan of(Period period) {
        String[] parts = period.getAccount().split("/", -1);
        return of(Way.DOWN, Integer.parseInt(parts[0]), period.getEntries(), Integer.parseInt(parts[1]))
                .failingAt(Integer.parseInt(parts[2]));
    }
}
