package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Outcome;
import tern.rpc.transport.ClientConnection;

/**
 * The state of one provider from one client's point of view: its connection, calls in flight, response times, failures,
 * and the time when bytes last arrived. All references that use the connection share this state. Times are on the
 * client's clock. Thread-safe, but updates of response times can be lost.
 */
public final class Node {

    /**
     * While calls are in flight, {@link #judgedCost} counts the time since the last answer as a response time if this
     * time is more than {@value} times the usual response time.
     */
    private static final double LONG_WAIT = 3;

    /** The minimum time that a probe (a copy of an idempotent call) waits for its answer. */
    public static final long COPY_WAIT_NANOS = ProbePauses.WAIT_NANOS;

    /**
     * The maximum usual response time that {@link #silentForNanos} assumes. Because of this maximum, a slow provider
     * also gets a ping early.
     */
    private static final long MAX_USUAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Endpoint endpoint;
    private final Link link;

    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger streams = new AtomicInteger();
    private final LongAdder calls = new LongAdder();
    private volatile boolean known; // True if the node has answered since it became usable.
    // The time of the last answer, or the start of the first call in flight if there has been no answer since.
    private volatile long answeredNanos;
    private volatile long lastAnswerNanos; // The time of the last answer, or the creation of the node.
    private final ResponseCost responses;
    private final ProbePauses probes;
    private final TrialPauses trials;
    private final Silence silence;

    private final Ejection ejection;
    private final NodeCounts counts;

    private volatile boolean callsFailed; // True if a call has failed since the node last became usable.

    /**
     * @param opener opens the connection without blocking
     * @param name the name of the provider in logs and error messages
     * @param log receives a line for each state change
     */
    Node(
            Endpoint endpoint,
            Supplier<ClientConnection> opener,
            Supplier<String> name,
            ChangeLog log,
            NodeCounts counts,
            long now) {
        this.endpoint = endpoint;
        this.link = new Link(endpoint, opener, name, log, now);
        this.answeredNanos = now;
        this.lastAnswerNanos = now;
        this.responses = new ResponseCost(now);
        this.probes = new ProbePauses(now);
        this.trials = new TrialPauses(now);
        this.silence = new Silence(name, log, counts, this::resumed, now);
        this.counts = counts;
        this.ejection = new Ejection(name, log, counts, now);
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    /** Returns the connection to the provider. */
    public Link link() {
        return link;
    }

    // Recording of calls

    /** Records that a call is about to be sent. */
    public void begin(long now) {
        calls.increment();
        if (inFlight.getAndIncrement() == 0) {
            answeredNanos = now;
            silence.callsBegin(now);
        }
    }

    /**
     * Records that a copy of an idempotent call is about to be sent as a probe. Probes do not count as calls in flight.
     * Otherwise, a provider that lost a probe would look busy or slow after its recovery.
     */
    public void beginCopy() {
        counts.copied();
        calls.increment();
        probes.sent();
    }

    /**
     * Records that a stream is about to be opened. {@link #isStalled} ignores streams, because a stream can be silent
     * for any length of time.
     */
    public void beginStream() {
        calls.increment();
        streams.incrementAndGet();
    }

    public void endStream(Outcome outcome, long now) {
        streams.decrementAndGet();
        judge(outcome, now);
    }

    /**
     * Records that a one-way call has been passed to the socket. A one-way call has no outcome, so it does not change
     * the node's state.
     */
    public void sentOneWay() {
        inFlight.decrementAndGet();
    }

    /**
     * Records the end of a call.
     *
     * @param tookNanos the time since {@link #begin}
     * @param times the method's usual response time
     */
    public void end(Outcome outcome, long tookNanos, long now, UsualTime times) {
        end(outcome, true, tookNanos, now, times);
    }

    /**
     * Records the end of a call.
     *
     * @param executed whether the provider may have executed the call
     * @param tookNanos the time since {@link #begin}
     * @param times the method's usual response time
     */
    public void end(Outcome outcome, boolean executed, long tookNanos, long now, UsualTime times) {
        inFlight.decrementAndGet();
        ended(outcome, executed, tookNanos, now, times);
    }

    private void ended(Outcome outcome, boolean executed, long tookNanos, long now, UsualTime times) {
        judge(outcome, now);
        if (outcome == Outcome.ANSWERED) {
            long usual = times.add(tookNanos);
            known = true;
            if (responses.answered(tookNanos, usual, ejection.isNow(now), now)) {
                ejection.end(now);
            }
        }
        if (outcome == Outcome.FAILED) {
            probes.failed(tookNanos, now);
            trials.failed(executed, now);
        } else if (outcome == Outcome.ANSWERED && responses.wasGood()) {
            probes.good(now);
            trials.good(now);
        } else if (outcome == Outcome.ANSWERED) {
            probes.slow(tookNanos, now);
            trials.slow(tookNanos, now);
        }
    }

    /**
     * Records the end of a probe, which is a copy of an idempotent call. An answer after the timeout of the original
     * call counts as a failure. A late answer also shows that the provider has served the calls that arrived before the
     * probe, so the next probe follows soon.
     *
     * @param tookNanos the time since {@link #beginCopy}
     * @param timeoutNanos the timeout of the call that was copied
     * @param times the method's usual response time
     */
    public void endCopy(Outcome outcome, long tookNanos, long timeoutNanos, long now, UsualTime times) {
        probes.ended();
        if (outcome == Outcome.FAILED && tookNanos > timeoutNanos && lastAnswerNanos - (now - tookNanos) > 0) {
            return; // The provider has lost the probe, but has answered calls since the probe was sent.
        }
        if (outcome != Outcome.ANSWERED || tookNanos <= timeoutNanos) {
            ended(outcome, true, tookNanos, now, times);
            return;
        }
        answered(now);
        failed(now);
        responses.late(tookNanos);
        probes.late(now);
    }

    /**
     * Records a call that was abandoned because another provider answered first. The time since {@link #begin} is a
     * lower bound on the call's duration. A short time is not recorded, because it does not show that the provider is
     * fast. {@link #end} must still be called.
     */
    public void outlasted(long tookNanos, long now, UsualTime times) {
        responses.outlasted(tookNanos, times.nanos(), now);
    }

    /** Called when the provider sends data again after a long silence. */
    private void resumed(long now) {
        responses.resumed();
        probes.resumed(now);
        trials.resumed(now);
    }

    private void judge(Outcome outcome, long now) {
        switch (outcome) {
            case ANSWERED -> {
                answered(now);
                ejection.answered(now);
            }
            case REFUSED -> {
                answered(now);
                responses.refused(now);
            }
            case FAILED -> failed(now);
            case CANCELLED -> {
                // A cancelled call does not change the node's state, because the caller ended it.
            }
        }
    }

    private void answered(long now) {
        answeredNanos = now;
        lastAnswerNanos = now;
        silence.heard(now);
    }

    private void failed(long now) {
        callsFailed = true;
        if (!link.isUsable()) {
            // Failures caused by a lost connection are not counted, because the node's state is reset when it
            // reconnects.
            return;
        }
        responses.failed(ejection.failed(calls.sum(), now), now);
    }

    // Measured values

    /**
     * Returns the response time as a multiple of the usual response time. While there are no calls, the value decays to
     * 1.
     */
    public double cost(long now) {
        return responses.cost(now);
    }

    /**
     * Returns the cost (the response time as a multiple of the usual response time), including calls in flight. The
     * time since the last answer is treated as the response time of these calls.
     */
    double expectedCost(long now) {
        return Math.max(cost(now), waited(now));
    }

    /**
     * Returns the time since the last answer as a multiple of the provider's usual response time; 0 if no calls are in
     * flight. The answer to a ping is not counted, because a slow provider answers pings quickly.
     */
    private double waited(long now) {
        return inFlight.get() == 0 ? 0 : responses.costOf(now - answeredNanos);
    }

    /**
     * Returns the cost (the response time as a multiple of the usual response time) for a comparison with other nodes.
     * The cost is 1 for a healthy node, because the response times of healthy nodes vary by chance. Otherwise, a node
     * with more calls would look slower: {@link #cost} rises with each slow answer, and a node with more calls returns
     * more slow answers.
     */
    double judgedCost(long now) {
        double ended = responses.judgedCost(now);
        double waited = waited(now);
        return waited > LONG_WAIT && waited > ended ? waited : ended;
    }

    /** Returns whether the node's answers are slow on average, or whether its last calls failed. */
    boolean isSlow(long now) {
        return responses.areSlow(now);
    }

    /** Returns whether the node has answered since it became usable. */
    public boolean isKnown() {
        return known;
    }

    /** Returns the number of calls and streams that have not ended. */
    public int inFlight() {
        return inFlight.get() + streams.get();
    }

    /** Returns the number of calls that have not ended, without streams. */
    public int waitingCalls() {
        return inFlight.get();
    }

    /** Returns the total number of calls and streams since the node was created. */
    public long calls() {
        return calls.sum();
    }

    /** Returns the node's ejection state. */
    public Ejection ejection() {
        return ejection;
    }

    public boolean isEjected(long now) {
        return ejection.isNow(now);
    }

    /**
     * Returns whether the provider is silent: calls are in flight, but nothing has arrived from the provider for a long
     * time. The client then sends pings, to find out whether the provider is alive.
     */
    public boolean isStalled(long now) {
        ClientConnection current = link.opened();
        return current != null && silence.isNow(current, inFlight.get(), responses.usualNanos(), now);
    }

    /**
     * Returns how long the node has been {@linkplain #isStalled stalled}, in nanoseconds, or 0 if it is not stalled.
     */
    long stalledForNanos(long now) {
        return isStalled(now) ? Math.max(1, now - silence.sinceNanos()) : 0;
    }

    /**
     * Returns how long the provider has left a ping unanswered, in nanoseconds, or 0 if no ping is unanswered. Unlike
     * {@link #isStalled}, this method sends the ping after half a second of silence even if the provider's methods
     * usually take longer, because a running process answers a ping immediately.
     */
    public long silentForNanos(long now) {
        ClientConnection current = link.opened();
        long usual = Math.min(MAX_USUAL_NANOS, responses.usualNanos());
        return current != null && silence.isNow(current, inFlight.get(), usual, now)
                ? Math.max(1, now - silence.sinceNanos())
                : 0;
    }

    // Survey calls the following methods several times per second.

    /**
     * Checks whether the node's connection was opened or reopened after the last check. A reconnected provider may be a
     * different process, so the node's earlier state is discarded. There is one exception: if the earlier connection
     * was lost soon after it was opened, and a call on this connection failed, the loss counts as a further failure.
     */
    synchronized void look(long now) {
        if (link.look(now)) {
            known = false;
            silence.clear(now);
            answeredNanos = now;
            if (link.wasSoonLost() && callsFailed) {
                failed(now);
                probes.failed(0, now);
                trials.failed(true, now);
            } else {
                responses.clear(now);
                ejection.clear(calls.sum(), now);
            }
            callsFailed = false;
        }
        ejection.look(now);
    }

    /** Returns the pauses between the node's probes, which are copies of calls. */
    ProbePauses probes() {
        return probes;
    }

    /** Returns the pauses between the node's trials (application calls that are sent to a slow or failing provider). */
    TrialPauses trials() {
        return trials;
    }

    /**
     * Returns {@link #judgedCost} without the calls in flight. No probe is needed while a call is waiting, because the
     * end of the call will show how fast the provider is.
     */
    double endedCost(long now) {
        return responses.judgedCost(now);
    }

    /** Returns whether the last calls failed. Slow answers are not failures. */
    boolean isFailing(long now) {
        return ejection.isFailing(now);
    }

    @Override
    public String toString() {
        return endpoint + " (" + inFlight() + " in flight)";
    }
}
