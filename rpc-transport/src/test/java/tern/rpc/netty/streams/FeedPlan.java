package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.google.protobuf.ByteString;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The plan of one stream: what is sent, and where it fails or is cancelled.
 *
 * @param way the direction of the stream
 * @param id the stream's number on its connection, which also selects the Java method signatures that client and server
 *     use
 * @param messages the number of messages
 * @param bytes the size of the largest message
 * @param failAt the number of messages after which the server fails the call; 0 for never
 * @param reading the speed of the client's reader
 * @param cancelAt the number of messages after which the client cancels; 0 for never
 * @param deadline the deadline of the call; null for no deadline
 * @param mistake the mistake of the called method of {@link Misfits}; null for a method of {@link Feeds}
 */
record FeedPlan(
        Way way,
        int id,
        int messages,
        int bytes,
        int failAt,
        Reading reading,
        int cancelAt,
        @Nullable Duration deadline,
        Misfits.@Nullable Mistake mistake) {

    /** The direction of a stream. */
    enum Way {
        /** The server sends a stream of messages. */
        DOWN,
        /** The client sends a stream of messages and gets one answer. */
        UP,
        /** The client and the server each send a stream; the server sends each request back. */
        BOTH
    }

    /** The speed of a client's reader. */
    enum Reading {
        /** The client reads answers as soon as they arrive. */
        EAGER,
        /**
         * The client requests one more answer after each answer, on a thread shared by all streams with this speed.
         */
        ONE_BY_ONE,
        /** The client reads nothing until the test resumes it. */
        PAUSED
    }

    // The filler of the messages has the type ByteString, because protobuf copies bytes into a message much faster than
    // it encodes a string.
    private static final ByteString FILLER = ByteString.copyFromUtf8("0123456789abcdef".repeat((8 << 20) / 16));
    private static final int INDEX_BITS = 32;
    private static final int ID_BITS = 16;
    private static final int ID_MASK = (1 << ID_BITS) - 1;

    static FeedPlan of(Way way, int id, int messages, int bytes) {
        return new FeedPlan(way, id, messages, bytes, 0, Reading.EAGER, 0, null, null);
    }

    FeedPlan reading(Reading wanted) {
        return new FeedPlan(way, id, messages, bytes, failAt, wanted, cancelAt, deadline, mistake);
    }

    FeedPlan failingAt(int message) {
        return new FeedPlan(way, id, messages, bytes, message, reading, cancelAt, deadline, mistake);
    }

    FeedPlan cancelledAt(int message) {
        return new FeedPlan(way, id, messages, bytes, failAt, reading, message, deadline, mistake);
    }

    FeedPlan within(Duration time) {
        return new FeedPlan(way, id, messages, bytes, failAt, reading, cancelAt, time, mistake);
    }

    FeedPlan mistaken(Misfits.Mistake made) {
        return new FeedPlan(way, id, messages, bytes, failAt, reading, cancelAt, deadline, made);
    }

    /** Returns the length of the string in a message. The lengths vary by up to 50 %. */
    int sizeOf(int index) {
        return Math.max(1, bytes - index * 31 % (bytes / 2 + 1));
    }

    Entry entry(int index) {
        long amount = ((long) failAt << (INDEX_BITS + ID_BITS)) | ((long) id << INDEX_BITS) | index;
        return Entry.newBuilder()
                .setAccountBytes(FILLER.substring(0, sizeOf(index)))
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

    /** Returns the total length of the strings in all messages. */
    long totalBytes() {
        long total = 0;
        for (int i = 0; i < messages; i++) {
            total += sizeOf(i);
        }
        return total;
    }

    /** Returns the parts of the plan that the server needs. */
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
