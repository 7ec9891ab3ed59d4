package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.diagnosis.account.Part;

class ForkJoinWaitsTest {

    /** Returns the snapshot of a thread that runs the first of the given methods. */
    private static ThreadSnapshot running(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker-1", 7, Thread.State.RUNNABLE, stack, null, null, 1, -1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.util.concurrent.ForkJoinPool$WorkQueue/helpComplete",
                "java.util.concurrent.ForkJoinPool/helpComplete",
                "jdk.internal.misc.Unsafe/getReferenceAcquire",
                "java.lang.Thread/onSpinWait"
            })
    void callerThatFindsNoItemOfItsStreamWaitsForTheResult(String innermost) {
        ThreadSnapshot thread = running(
                innermost,
                "java.util.concurrent.ForkJoinPool/helpComplete",
                "java.util.concurrent.ForkJoinTask/awaitDone",
                "java.util.concurrent.ForkJoinTask/invoke",
                "java.util.stream.ReduceOps$ReduceOp/evaluateParallel",
                "java.util.stream.IntPipeline/sum",
                "depot.Tracking/track");

        assertThat(StackReader.read(thread)).isEqualTo(new Part(Part.Kind.RESULT, "Tracking.track"));
        assertThat(TaskWaits.isForTask(CalledMethods.of(thread))).isTrue();
    }

    @Test
    void taskThatFindsNoOtherTaskWhileItsFutureIsIncompleteWaitsForTheResult() {
        ThreadSnapshot thread = running(
                "java.util.concurrent.ForkJoinPool$WorkQueue/helpAsyncBlocker",
                "java.util.concurrent.ForkJoinPool/helpAsyncBlocker",
                "java.util.concurrent.CompletableFuture/waitingGet",
                "java.util.concurrent.CompletableFuture/join",
                "depot.Tracking/track",
                "java.util.concurrent.ForkJoinTask/doExec",
                "java.util.concurrent.ForkJoinWorkerThread/run");

        assertThat(StackReader.read(thread)).isEqualTo(new Part(Part.Kind.RESULT, "Tracking.track"));
    }

    @Test
    void callerThatRunsAnItemOfItsStreamComputes() {
        ThreadSnapshot thread = running(
                "depot.Tracking/distance",
                "java.util.stream.ReduceOps$ReduceTask/doLeaf",
                "java.util.concurrent.ForkJoinTask/doExec",
                "java.util.concurrent.ForkJoinPool/helpComplete",
                "java.util.concurrent.ForkJoinTask/awaitDone",
                "java.util.concurrent.ForkJoinTask/invoke",
                "depot.Tracking/track");

        assertThat(StackReader.read(thread)).isEqualTo(new Part(Part.Kind.COMPUTING, "Tracking.distance"));
    }

    @Test
    void libraryThatWorksWithinAnItemComputes() {
        ThreadSnapshot thread = running(
                "java.lang.Thread/currentThread",
                "java.util.regex.Pattern/compile",
                "depot.Tracking/distance",
                "java.util.concurrent.ForkJoinPool/helpComplete",
                "java.util.concurrent.ForkJoinTask/awaitDone",
                "depot.Tracking/track");

        assertThat(StackReader.read(thread)).isEqualTo(new Part(Part.Kind.COMPUTING, "Tracking.distance"));
    }
}
