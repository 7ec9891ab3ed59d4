package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests recursions of libraries whose exceptions do not show the application code. */
class DeepRecursionsTest {

    private static final StackTraceElement LIBRARY =
            new StackTraceElement("java.util.regex.Pattern$Loop", "match", "Pattern.java", 4789);
    private static final StackTraceElement CALLER =
            new StackTraceElement("shop.ParcelBook", "recheck", "ParcelBook.java", 61);

    private static Cause first(Consumer<SampledCall> look, StackTraceElement... trace) {
        StackOverflowError overflow = new StackOverflowError();
        overflow.setStackTrace(trace);
        return new SampledCalls()
                .failing(overflow)
                .calls("web.GET /recheck", Phase.OWN, 40, look)
                .causes()
                .get(0);
    }

    private static void computing(SampledCall samples) {
        StackTraceElement[] stack = {LIBRARY, CALLER};
        samples.add(SampledCalls.sample(
                Phase.OWN, new ThreadSnapshot("exec-1", 9, Thread.State.RUNNABLE, stack, null, null, -1, -1)));
    }

    @Test
    void codeThatStartsTheRecursionIsKnownFromSamples() {
        Cause first = first(DeepRecursionsTest::computing, LIBRARY, LIBRARY);

        assertThat(first.title()).isEqualTo("FAILURE: StackOverflowError in Pattern.Loop.match:4789");
        assertThat(first.change().text()).endsWith("; samples of these calls show ParcelBook.recheck:61");
    }

    @Test
    void methodIsNamedWithoutSamples() {
        assertThat(first(samples -> {}, LIBRARY, LIBRARY).change().text()).endsWith("; in calls to web.GET /recheck");
    }

    @Test
    void recursionThatShowsItsCallerNeedsNoSamples() {
        assertThat(first(DeepRecursionsTest::computing, LIBRARY, CALLER)
                        .change()
                        .text())
                .endsWith("StackOverflowError in ParcelBook.recheck:61");
    }
}
