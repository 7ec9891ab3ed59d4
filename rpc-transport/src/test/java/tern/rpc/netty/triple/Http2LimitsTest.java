package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http2.Http2Exception;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Http2LimitsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static final int FRAME_BYTES = 16 << 10;

    private final Http2Limits limits = new Http2Limits();
    private int visited;
    private final long start = System.nanoTime();

    @Test
    void honestCancellerIsNeverCut() {
        assertThatCode(() -> {
                    for (int call = 0; call < 2_000 * 60; call++) {
                        long now = start + call * SECOND / 2_000;
                        if (call % 50 == 0) {
                            limits.reset(now, false);
                        }
                        limits.streamEnded(now);
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void resetsThatAreMostOfTheStreamsAreCut() {
        assertThatThrownBy(() -> resets(Http2Limits.MANY_RESETS + 1, false))
                .isInstanceOf(Http2Exception.class)
                .hasMessageContaining("201 streams were reset");
    }

    @Test
    void needlessResetsAreLimitedForAnyNumberOfStreams() {
        for (int i = 0; i < 100_000; i++) {
            limits.streamEnded(start);
        }

        assertThatThrownBy(() -> resets(Http2Limits.MAX_RESETS + 1, false)).isInstanceOf(Http2Exception.class);
    }

    @Test
    void clientsWithShortTimeoutsAreNotLimitedByTheirShareOfResets() {
        assertThatCode(() -> resets(Http2Limits.MAX_RESETS, true)).doesNotThrowAnyException();
        assertThatThrownBy(() -> resets(1, true)).hasMessageContaining("2001 streams were reset");
    }

    @Test
    void shortTimeLimitsDoNotHideOtherResets() throws Http2Exception {
        resets(Http2Limits.MANY_RESETS, true);

        assertThatThrownBy(() -> {
                    resets(Http2Limits.MANY_RESETS, false);
                    resets(Http2Limits.MANY_RESETS, false);
                })
                .hasMessageContaining("streams were reset");
    }

    private void resets(int count, boolean mayBeTimeout) throws Http2Exception {
        for (int i = 0; i < count; i++) {
            limits.reset(start, mayBeTimeout);
            limits.streamEnded(start);
        }
    }

    @Test
    void controlFramesBetweenCallsAreNoFlood() {
        assertThatCode(() -> {
                    for (int i = 0; i < 100 * Http2Limits.MAX_CONTROL_FRAMES; i++) {
                        limits.controlFrame(start);
                        if (i % 900 == 0) {
                            limits.moved();
                        }
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void controlFramesForEachDataFrameAreNoFlood() {
        int permitted = Http2Limits.CONTROL_FRAMES_PER_DATA + FRAME_BYTES / Http2Limits.BYTES_PER_CONTROL_FRAME;

        assertThatCode(() -> controlFramesForEachData(FRAME_BYTES, permitted)).doesNotThrowAnyException();
    }

    @Test
    void moreControlFramesThanDataAllowsAreAFlood() {
        int permitted = Http2Limits.CONTROL_FRAMES_PER_DATA + FRAME_BYTES / Http2Limits.BYTES_PER_CONTROL_FRAME;

        assertThatThrownBy(() -> controlFramesForEachData(FRAME_BYTES, 2 * permitted))
                .hasMessageContaining("control frames");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 1_024, FRAME_BYTES})
    void twoWindowUpdatesAndAPingForEachDataFrameAreNoFlood(int bytes) {
        assertThatCode(() -> controlFramesForEachData(bytes, 3)).doesNotThrowAnyException();
    }

    @Test
    void dataFramesOfOneBytePermitFewControlFrames() {
        assertThatThrownBy(() -> controlFramesForEachData(1, 32)).hasMessageContaining("control frames");
    }

    private void controlFramesForEachData(int bytes, int controlFrames) throws Http2Exception {
        for (int i = 0; i < 10_000; i++) {
            limits.dataSent(bytes);
            for (int j = 0; j < controlFrames; j++) {
                limits.controlFrame(start);
            }
        }
    }

    @Test
    void visitsOfAllStreamsAreLimitedEvenIfCallsMakeProgress() {
        assertThatThrownBy(() -> visits(1_000, 0)).hasMessageContaining("with 900 open streams: cost 1015, limit 1000");
        assertThat(visited).isEqualTo(34);
    }

    @Test
    void peerThatChangesItsWindowsAfterAFewMebibytesIsNotLimited() {
        assertThatCode(() -> visits(10_000, 3 << 20)).doesNotThrowAnyException();
    }

    @Test
    void visitsCountAgainInTheNextTimeWindow() throws Http2Exception {
        visits(34, 0);

        assertThatCode(() -> limits.streamsVisited(start + 31 * SECOND, 900)).doesNotThrowAnyException();
    }

    private void visits(int count, int bytesBetween) throws Http2Exception {
        for (int i = 0; i < count; i++) {
            limits.streamsVisited(start, 900);
            visited++;
            limits.moved();
            limits.dataSent(1);
            limits.answered(bytesBetween);
        }
    }

    @Test
    void framesOnResetStreamsAreTakenForSomeTime() {
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= Http2Limits.MAX_FRAMES_IN_VAIN; i++) {
                        limits.moved();
                        limits.frameInVain(start);
                    }
                })
                .hasMessageContaining("16385 frames");
    }

    @Test
    void dataOnResetStreamsIsLimitedByItsBytes() throws Http2Exception {
        int window = ReceiveWindows.STREAM_BYTES;
        limits.streamEnded(start);
        for (int i = 0; i < 100_000; i++) {
            limits.inVain(start, 5, 0);
        }
        limits.inVain(start, (int) Http2Limits.MAX_BYTES_IN_VAIN + window - 500_000, 0);

        assertThatThrownBy(() -> limits.inVain(start, 5, 0)).hasMessageContaining("9437189 bytes came within 30 s");
        assertThatCode(() -> limits.inVain(start + 31 * SECOND, window, 0)).doesNotThrowAnyException();
    }

    @Test
    void frameOfOneByteOnResetStreamCountsAsAMessage() {
        long mostMessages = Http2Limits.MAX_BYTES_IN_VAIN / Http2Limits.MIN_BYTES_IN_VAIN;

        assertThatCode(() -> framesOfOneByte(mostMessages)).doesNotThrowAnyException();
        assertThatThrownBy(() -> framesOfOneByte(1)).hasMessageContaining("bytes came within 30 s");
    }

    private void framesOfOneByte(long frames) throws Http2Exception {
        for (long i = 0; i < frames; i++) {
            limits.inVain(start, 1, 0);
        }
    }

    @Test
    void framesWithoutDataOnResetStreamsAreCounted() {
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= Http2Limits.MAX_FRAMES_IN_VAIN; i++) {
                        limits.inVain(start, 0, 0);
                    }
                })
                .hasMessageContaining("16385 frames");
    }

    @Test
    void framesOnStreamsThatEndedInThePreviousWindowArePermitted() throws Http2Exception {
        limits.streamEnded(start);
        for (int i = 0; i < 1_000; i++) {
            limits.streamEnded(start + 29 * SECOND);
        }

        long now = start + 31 * SECOND;
        for (int i = 0; i < Http2Limits.MAX_FRAMES_IN_VAIN + 64 * 1_001; i++) {
            limits.frameInVain(now, 64);
        }

        assertThatThrownBy(() -> limits.frameInVain(now, 64)).hasMessageContaining("frames came within 30 s");
    }

    @Test
    void pingsAtThePermittedRateAreAccepted() {
        assertThatCode(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        limits.ping(start + i * 10 * SECOND, true);
                    }
                    limits.moved();
                    for (int i = 0; i < 1_000; i++) {
                        limits.ping(start + (20_000L + i * 30) * SECOND, false);
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void pingsThatArriveSomeMillisecondsEarlyAreAccepted() {
        assertThatCode(() -> {
                    for (int i = 0; i < 100; i++) {
                        long jitter = i % 2 == 0 ? 0 : SECOND / 10;
                        limits.ping(start + i * 10 * SECOND - jitter, true);
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void tooFrequentPingsEndTheConnectionAfterTwoStrikes() {
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 4; i++) {
                        limits.ping(start + i * 29 * SECOND, false);
                    }
                })
                .hasMessage("too_many_pings");
    }
}
