package tern.rpc.diagnosis.rule;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.SocketWaits;
import tern.rpc.evidence.MachineSecond;

/**
 * Recognizes waits for sockets and for host names that end after the fixed times of the network protocols. Delayed
 * acknowledgements take 40 ms. Lost segments are sent again after at least 200 ms, and lost connection requests after
 * one second. A resolver asks the next DNS server after 5 s.
 */
public final class SteppedWaits {

    private static final int MIN_CALLS = 5;

    /** Waits of seconds are rare, and only few of them are known. */
    private static final int MIN_LONG = 3;

    private static final double NEARLY_ALL = 0.8;

    // the minimum numbers of pairs of samples and of waits in them from which the time of a single wait is computed
    private static final int MIN_PAIRS = 3;

    private static final int MIN_TURNS = 6;

    /** Linux delays an acknowledgement for 40 ms, and its timers end up to 4 ms late. */
    private static final double DELAYED_ACK = 42e6;

    private static final double SHORTEST_ACK = 36e6;
    private static final double LONGEST_ACK = 50e6;

    /** The time between two samples is divided into waits of 40 ms if the numbers differ by at most {@value}. */
    private static final double SAME_NUMBER = 1.3;

    /** More waits of 40 ms for each call would fit nearly every duration. */
    private static final int MAX_ACKS = 4;

    private static final double[] LOST_SEGMENTS = {200e6, 600e6, 1400e6};
    private static final double[] LOST_REQUESTS = {1e9, 3e9, 7e9, 15e9};
    private static final double[] LOST_QUESTIONS = {5e9, 10e9, 15e9, 20e9};

    /** A wait ends at most {@value} of its length after the protocol's fixed time. */
    private static final double LATE = 0.07;

    /** The work of the call that is not part of the wait takes at most this long. */
    private static final double REST = 6e6;

    private static final Pattern CONNECTS =
            Pattern.compile("(?:^|\\.)(?:connect\\w*|<init>|open\\w*|createSocket|finishConnect)$");

    private SteppedWaits() {}

    /**
     * Returns the recommended change for a wait for a socket whose time shows its reason; null if there is none.
     *
     * @param place the waiting line and the method that it calls
     * @param called the called method; null if it is unknown
     */
    public static @Nullable String change(
            Evidence evidence, ExcessTime excess, Part wait, String place, @Nullable String called) {
        double[] times = EqualWaits.nanosOf(excess, wait);
        if (called != null && CONNECTS.matcher(called).find()) {
            return areNear(times, LOST_REQUESTS, MIN_LONG)
                    ? "find out why the peer that " + place + " talks to does not answer connection requests at once:"
                            + " its queue of new connections is full (accept them faster, raise the backlog), or the"
                            + " network or a firewall loses packets; the waits of " + millis(times)
                            + " ms end when the lost request is sent again after 1, 3 or 7 s"
                    : null;
        }
        String acks = delayedAcks(evidence, excess, wait, place);
        return acks != null ? acks : lostSegments(evidence, times, place);
    }

    private static @Nullable String delayedAcks(Evidence evidence, ExcessTime excess, Part wait, String place) {
        List<SocketWaits.Pair> pairs = excess.accounts.stream()
                .map(counted -> evidence.samples().get(counted.call().ledger()))
                .flatMap(call -> call == null ? Stream.empty() : pairsOf(call, wait))
                .toList();
        long turns = pairs.stream().mapToLong(SocketWaits.Pair::turns).sum();
        double one = pairs.stream().mapToDouble(SocketWaits.Pair::nanos).sum() / Math.max(1, turns);
        boolean isMeasured = pairs.size() >= MIN_PAIRS;
        boolean isSteady = pairs.stream()
                        .filter(pair -> Math.abs(pair.nanos() / DELAYED_ACK - pair.turns()) <= SAME_NUMBER)
                        .count()
                >= NEARLY_ALL * pairs.size();
        if (isMeasured && turns >= MIN_TURNS && isSteady && one >= SHORTEST_ACK && one <= LONGEST_ACK) {
            return oneWrite(place) + ": each of several reads per call waits about " + Times.millis(one)
                    + " ms, because the second of two small writes waits for a delayed acknowledgement of the first"
                    + " (Nagle's algorithm); the answers of the peer may be written in pieces, too";
        }
        EqualWaits.Equal equal = EqualWaits.of(excess, wait);
        double waits = equal == null ? 0 : Math.max(1, Math.floor(equal.nanos() / 40e6));
        boolean isMultiple = equal != null
                && equal.nanos() >= 39e6 * waits
                && equal.nanos() <= 45e6 * waits + REST
                && waits <= MAX_ACKS;
        return isMultiple && !isMeasured && equal != null
                ? oneWrite(place) + " if the peer itself answers quickly: "
                        + equal.text() + String.format(Locale.ROOT, ", that is %.0f times about 40 ms", waits)
                        + ", as if small writes waited for delayed acknowledgements (Nagle's algorithm); otherwise"
                        + " check this peer, or set a shorter timeout"
                : null;
    }

    private static Stream<SocketWaits.Pair> pairsOf(SampledCall call, Part wait) {
        return call.socketWaits.pairs().stream().filter(pair -> pair.part().equals(wait));
    }

    private static String oneWrite(String place) {
        return "write each request in one piece (one write, or a BufferedOutputStream and one flush), or call"
                + " setTcpNoDelay(true) on the socket that " + place + " uses";
    }

    private static @Nullable String lostSegments(Evidence evidence, double[] times, String place) {
        if (!areNear(times, LOST_SEGMENTS, MIN_CALLS)) {
            return null;
        }
        MachineSecond second = evidence.machine().second();
        boolean areSent = second != null && second.retransmitShare() > 0;
        return "check the network and the load of the peer that " + place + " talks to: the waits of " + millis(times)
                + " ms " + (areSent ? "are probably" : "may be")
                + " the times after which TCP sends a lost segment again (200, 600, 1400 ms; nstat shows"
                + " TcpRetransSegs)"
                + (areSent ? ", and the machine sends segments again" : "")
                + "; if no segments are lost, this peer itself waits, so check it, or set a shorter timeout";
    }

    /** Returns an addition to the advice for host name lookups whose time shows that a DNS server does not answer. */
    public static String ofLookups(ExcessTime excess, Part lookup) {
        double[] times = excess.accounts.stream()
                .filter(counted ->
                        2 * counted.times().of(lookup) >= counted.call().tookNanos())
                .filter(counted -> counted.call().ledger().isEnded())
                .mapToDouble(counted -> counted.call().tookNanos())
                .toArray();
        return areNear(times, LOST_QUESTIONS, MIN_LONG)
                ? "; the calls take " + millis(times) + " ms, as if the first DNS server did not answer, because the"
                        + " resolver asks the next server after 5 s: remove this server from /etc/resolv.conf, or set"
                        + " options timeout:1"
                : "";
    }

    /** Returns whether nearly all of the times are slightly longer than one of the given steps. */
    private static boolean areNear(double[] times, double[] steps, int min) {
        long near = Arrays.stream(times)
                .filter(nanos -> DoubleStream.of(steps)
                        .anyMatch(step -> nanos >= 0.99 * step && nanos <= (1 + LATE) * step + REST))
                .count();
        return times.length >= min && near >= NEARLY_ALL * times.length;
    }

    /** Returns the median of the times. */
    private static String millis(double[] times) {
        return "about " + Times.millis(Arrays.stream(times).sorted().toArray()[times.length / 2]);
    }
}
