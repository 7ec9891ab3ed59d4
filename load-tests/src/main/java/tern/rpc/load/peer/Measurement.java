package tern.rpc.load.peer;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import tern.rpc.load.peer.Load.Ran;

/**
 * The result of one scenario in one round.
 *
 * @param seconds the duration of the measurement
 * @param client the cost of all clients together
 * @param server the cost of all servers together
 * @param latencies the latencies of all calls, in nanoseconds
 */
record Measurement(
        long errors, String firstError, double seconds, ProcessCost client, ProcessCost server, Histogram latencies) {

    long calls() {
        return latencies.getTotalCount();
    }

    /** Formats a result as the line that a client process sends. */
    static String line(Ran ran) {
        ByteBuffer bytes = ByteBuffer.allocate(ran.latencies().getNeededByteBufferCapacity());
        int length = ran.latencies().encodeIntoCompressedByteBuffer(bytes);
        return "ran " + ran.errors() + " " + ran.nanos() + " " + ran.cost().words() + " "
                + Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length)) + " "
                + oneLine(ran.firstError());
    }

    static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    /** Parses the line that a client process sends. The result does not contain the servers' cost. */
    static Measurement ofClient(String line) {
        String[] words = line.split(" ", 9);
        try {
            return new Measurement(
                    Long.parseLong(words[1]),
                    words[8],
                    Long.parseLong(words[2]) / 1e9,
                    ProcessCost.of(words, 3),
                    ProcessCost.NONE,
                    Histogram.decodeFromCompressedByteBuffer(
                            ByteBuffer.wrap(Base64.getDecoder().decode(words[7])), Load.MAX_NANOS));
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("a client sent '" + line + "', which is not a result", e);
        }
    }

    /** Combines this result with the result of a second client that ran at the same time. */
    Measurement and(Measurement other) {
        Histogram both = latencies.copy();
        both.add(other.latencies);
        return new Measurement(
                errors + other.errors,
                firstError.isEmpty() ? other.firstError : firstError,
                Math.max(seconds, other.seconds),
                client.plus(other.client),
                server.plus(other.server),
                both);
    }

    Measurement withServer(ProcessCost used) {
        return new Measurement(errors, firstError, seconds, client, used, latencies);
    }
}
