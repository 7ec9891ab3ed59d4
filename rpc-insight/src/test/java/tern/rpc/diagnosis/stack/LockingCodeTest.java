package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.TollRoad;

class LockingCodeTest {

    private final TollRoad road = new TollRoad();

    private List<StackTraceElement> frames(BiConsumer<TollRoad, Consumer<StackTraceElement>> method) {
        List<StackTraceElement> frames = new ArrayList<>();
        method.accept(road, frames::add);
        return frames;
    }

    /** Returns the frame of a thread that waits in the line after the first frame of {@code assign}. */
    private StackTraceElement waiting() {
        StackTraceElement before = frames(TollRoad::assign).get(0);
        return new StackTraceElement(
                before.getClassName(), before.getMethodName(), before.getFileName(), before.getLineNumber() + 1);
    }

    private boolean mayHold(StackTraceElement frame) {
        return LockingCode.mayHold(List.of(frame), waiting());
    }

    @Test
    void codeBetweenTheLinesThatTakeAndReleaseTheLockHoldsIt() {
        List<StackTraceElement> assign = frames(TollRoad::assign);

        assertThat(assign).extracting(this::mayHold).containsExactly(false, true, false);
        assertThat(mayHold(frames(TollRoad::reload).get(0))).isTrue();
    }

    @Test
    void methodThatReturnsAReadLockDoesNotTakeIt() {
        StackTraceElement writes = new StackTraceElement(TollRoad.class.getName(), "update", "TollRoad.java", 1);

        assertThat(frames(TollRoad::list))
                .extracting(frame -> LockingCode.mayHold(List.of(frame), writes))
                .containsExactly(true, false);
    }

    @Test
    void codeThatReturnsThePermitOfAnotherThreadHoldsIt() {
        StackTraceElement pays = new StackTraceElement(TollRoad.class.getName(), "pay", "TollRoad.java", 1);

        assertThat(frames(TollRoad::finish))
                .extracting(frame -> LockingCode.mayHold(List.of(frame), pays))
                .containsExactly(true, false);
    }

    @Test
    void codeThatTakesNoLockDoesNotHoldIt() {
        assertThat(mayHold(frames(TollRoad::ask).get(0))).isFalse();
    }

    @Test
    void codeThatTakesAnotherLockDoesNotHoldIt() {
        assertThat(mayHold(frames(TollRoad::audit).get(0))).isFalse();
        assertThat(mayHold(frames(TollRoad::price).get(0))).isFalse();
        assertThat(mayHold(frames(TollRoad::count).get(0))).isFalse();
    }

    @Test
    void outerFrameMayHoldTheLock() {
        List<StackTraceElement> path =
                List.of(frames(TollRoad::ask).get(0), frames(TollRoad::reload).get(0));

        assertThat(LockingCode.mayHold(path, waiting())).isTrue();
    }

    @Test
    void codeBehindASwitchHoldsTheLockThatItTookBefore() {
        StackTraceElement inside = frames(TollRoad::price).get(0);
        StackTraceElement waits =
                new StackTraceElement(inside.getClassName(), "price", inside.getFileName(), inside.getLineNumber() - 5);

        assertThat(LockingCode.mayHold(List.of(inside), waits)).isTrue();
    }

    @Test
    void codeWithoutAClassFileHoldsOnlyTheLockOfTheWaitingMethodItself() {
        StackTraceElement waits = new StackTraceElement("depot.Unknown", "list", "Unknown.java", 20);
        StackTraceElement behind = new StackTraceElement("depot.Unknown", "list", "Unknown.java", 24);
        StackTraceElement elsewhere = new StackTraceElement("depot.Unknown", "send", "Unknown.java", 40);

        assertThat(LockingCode.mayHold(List.of(behind), waits)).isTrue();
        assertThat(LockingCode.mayHold(List.of(elsewhere), waits)).isFalse();
    }
}
