package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.evidence.RunTime;

/** Tests waits for sockets and host names that end after fixed times of the network protocols. */
class SteppedWaitsTest {

    /** The threads' time between two samples. */
    private static final long PAUSE = 85_000_000L;

    private long now;
    private long turns;

    private static Sample sample(long at, Part.Kind kind, String called) {
        List<StackTraceElement> path = List.of(new StackTraceElement("cars.Boxes", "fuel", null, 35));
        return new Sample(at, Phase.OWN, new Part(kind, "Boxes.fuel"), path, called, null, null, false, null, -1, -1);
    }

    private void look(SampledCall call, Part.Kind kind, String called, long waits) {
        now += PAUSE;
        turns += waits;
        Sample sample = sample(now, kind, called);
        call.add(sample);
        call.socketWaits.add(sample, () -> new RunTime(turns, turns, turns));
    }

    private static Cause first(SampledCalls calls) {
        return calls.causes().get(0);
    }

    /** Returns the change for calls that read from a socket and wait several times between two samples. */
    private String reading(double millis, long waits) {
        Cause first = first(new SampledCalls()
                .calls("Desk.fuel", Phase.OWN, millis, call -> look(call, Part.Kind.SOCKET, "Socket.read", waits)));
        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW SOCKET: Boxes.fuel");
        return first.change().text();
    }

    /** Returns the change for calls whose threads' turns on a processor are unknown, as for virtual threads. */
    private static String waiting(Part.Kind kind, String called, double... millis) {
        SampledCalls calls = new SampledCalls();
        for (double each : millis) {
            calls.calls("Desk.fuel", Phase.OWN, each, call -> call.add(sample(0, kind, called)));
        }
        return first(calls).change().text();
    }

    @Test
    void severalReadsOf40MillisecondsShowDelayedAcknowledgements() {
        assertThat(reading(170, 2))
                .startsWith("write each request in one piece")
                .contains("setTcpNoDelay(true) on the socket that Boxes.fuel:35 (Socket.read) uses")
                .contains("each of several reads per call waits about 43 ms")
                .doesNotContain("otherwise check this peer");
    }

    @Test
    void oneLongReadShowsASlowPeer() {
        assertThat(reading(170, 0)).startsWith("check the peer that Boxes.fuel:35");
    }

    @Test
    void manyShortReadsShowASlowPeer() {
        assertThat(reading(170, 20)).startsWith("check the peer that Boxes.fuel:35");
    }

    @Test
    void equalMultiplesOf40MillisecondsAreOnlyAHint() {
        assertThat(waiting(Part.Kind.SOCKET, "Socket.read", 133))
                .startsWith("write each request in one piece")
                .contains("if the peer itself answers quickly")
                .contains("that is 3 times about 40 ms")
                .endsWith("check this peer, or set a shorter timeout");
    }

    @Test
    void otherTimesShowASlowPeer() {
        assertThat(waiting(Part.Kind.SOCKET, "Socket.read", 150)).startsWith("check the peer");
        assertThat(waiting(Part.Kind.SOCKET, "Socket.read", 330, 451)).startsWith("check the peer");
    }

    @Test
    void readsThatEndAfterTheTimesOfRetransmissionsMayWaitForLostSegments() {
        assertThat(waiting(Part.Kind.SOCKET, "Socket.read", 608, 204, 1411))
                .startsWith("check the network and the load of the peer")
                .contains("may be the times after which TCP sends a lost segment again");
    }

    @Test
    void connectionsThatTakeOneOrThreeSecondsHaveLostTheirRequests() {
        assertThat(waiting(Part.Kind.SOCKET, "Socket.connect", 1004, 3010))
                .startsWith("find out why the peer that Boxes.fuel:35 (Socket.connect) talks to does not answer"
                        + " connection requests at once")
                .contains("queue of new connections is full");
        assertThat(waiting(Part.Kind.SOCKET, "Socket.connect", 420)).startsWith("check the peer");
    }

    @Test
    void lookupsThatTakeFiveSecondsHaveADeadServer() {
        assertThat(waiting(Part.Kind.RESOLVER, "InetAddress.getByName", 5012))
                .contains("as if the first DNS server did not answer")
                .contains("options timeout:1");
        assertThat(waiting(Part.Kind.RESOLVER, "InetAddress.getByName", 800)).doesNotContain("first DNS server");
    }
}
