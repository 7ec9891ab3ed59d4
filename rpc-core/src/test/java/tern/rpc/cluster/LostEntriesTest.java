package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;

/** Tests lists that lose the entries of providers that still answer, and how many providers may be ejected. */
class LostEntriesTest extends SimulatedCluster {

    @Test
    void providersWhoseEntriesAreLostOneAfterAnotherStayInUse() {
        start(10);
        for (int left = 9; left >= 0; left--) {
            source.lists(instances(left));
            timer.move(1_100 * TICK);
        }

        assertThat(cluster.targets()).hasSize(10).allMatch(Target::isUsable);
        assertThat(opened).hasSize(10);
        assertThat(IntStream.range(0, 500).mapToObj(call -> pick()).distinct()).hasSize(10);
    }

    @Test
    void providerThatEndsWhileEntriesAreLostIsDropped() {
        start(10);
        for (int left = 9; left >= 0; left--) {
            source.lists(instances(left));
            peer(left).available = left != 7;
            timer.move(1_100 * TICK);
        }

        assertThat(listed()).hasSize(9).doesNotContain(instance(7).endpoint());
    }

    /**
     * A list may contain no usable provider, for example if the registry was restored with the data of another cluster.
     */
    @Test
    void providersStayInUseWhileNoListedProviderCanBeUsed() {
        start(3);
        timer.move(SECOND);
        for (int i = 10; i < 13; i++) {
            peer(i).available = false;
        }
        source.lists(instance(10), instance(11), instance(12));
        timer.move(100 * SECOND);
        assertThat(listed())
                .contains(
                        instance(0).endpoint(),
                        instance(1).endpoint(),
                        instance(2).endpoint());

        peer(11).available = true;
        timer.move(2 * SECOND);
        assertThat(listed())
                .containsExactly(
                        instance(10).endpoint(),
                        instance(11).endpoint(),
                        instance(12).endpoint());
    }

    /** The registry may already have lost its data when this process starts and loads its stored list. */
    @Test
    void providersOfAStoredListStayInUseAlthoughTheyAreNotConnectedYet() {
        cluster.start(Duration.ZERO);
        source.listener.accept(EndpointSnapshot.stale(List.of(instances(60)), Instant.EPOCH, "stored"));
        source.lists();
        timer.move(3 * SECOND);

        assertThat(cluster.targets()).hasSize(60).allMatch(Target::isUsable);
    }

    private void eject(int from, int to) {
        for (int i = from; i < to; i++) {
            Target target = cluster.targets().get(i);
            IntStream.range(0, 5).forEach(failure -> call(target, Outcome.FAILED));
        }
        timer.move(100 * TICK);
        pick();
    }

    @Test
    void providersOutOfReachDoNotCountWhenEjectionsAreLimited() {
        start(10);
        pass(SECOND);
        for (int i = 4; i < 10; i++) {
            peer(i).available = false;
        }

        eject(0, 2);
        assertThat(cluster.targets().subList(0, 2)).allMatch(target -> target.isAvoided(now));
        eject(2, 3);

        assertThat(cluster.targets().subList(0, 3)).noneMatch(target -> target.isAvoided(now));
    }

    @Test
    void providersWithoutWeightDoNotCountWhenEjectionsAreLimited() {
        cluster.start(Duration.ZERO);
        source.lists(IntStream.range(0, 6)
                .mapToObj(i -> new Instance(instance(i).endpoint(), Attributes.ofWeight(i < 3 ? 100 : 0)))
                .toList());
        pass(SECOND);

        eject(0, 1);
        assertThat(cluster.targets().get(0).isAvoided(now)).isTrue();
        eject(1, 2);

        assertThat(cluster.targets()).noneMatch(target -> target.isAvoided(now));
    }
}
