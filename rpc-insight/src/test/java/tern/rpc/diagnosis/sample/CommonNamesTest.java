package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;

class CommonNamesTest {

    private static final String NEVER_RELEASED = "ReentrantLock never released wanted in Numbers.next";
    private static final String HELD = "ReentrantLock held in Orders.place";

    private static Sample lock(String name, String owner) {
        List<StackTraceElement> path = List.of(new StackTraceElement("depot.Numbers", "next", "Numbers.java", 9));
        Part part = new Part(Part.Kind.LOCK, name);
        return new Sample(0, Phase.OWN, part, path, null, null, owner, false, null, -1, -1);
    }

    /** Returns the distinct names that {@link CommonNames} gives to the activities in one call's samples. */
    private static List<String> names(Sample... samples) {
        CommonNames names = new CommonNames(null, CommonNames.holders(List.of(List.of(samples))));
        return List.of(samples).stream()
                .map(sample -> names.of(sample).part().name())
                .distinct()
                .toList();
    }

    @Test
    void ownerOfALockThatItNeverReleasedIsNotItsHolderWhileItServesAnotherCall() {
        assertThat(names(
                        lock(NEVER_RELEASED, "worker-1"),
                        lock(HELD, "worker-1"),
                        lock(NEVER_RELEASED, "worker-1"),
                        lock(HELD, "worker-1"),
                        lock(NEVER_RELEASED, "worker-1")))
                .containsExactly(NEVER_RELEASED);
    }

    @Test
    void lockThatChangesHandsIsReleased() {
        assertThat(names(
                        lock(NEVER_RELEASED, "worker-1"),
                        lock(HELD, "worker-2"),
                        lock(NEVER_RELEASED, "worker-3"),
                        lock(HELD, "worker-4"),
                        lock(NEVER_RELEASED, "worker-5")))
                .containsExactly(HELD);
    }

    @Test
    void fewSamplesDoNotShowThatALockWasNeverReleased() {
        assertThat(names(lock(NEVER_RELEASED, "worker-1"), lock(NEVER_RELEASED, "worker-1")))
                .containsExactly("ReentrantLock wanted in Numbers.next");
    }
}
