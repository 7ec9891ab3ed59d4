package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;

class LastGoodTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Set<String> answering = new HashSet<>(Set.of("a", "b", "c", "d", "e"));

    private boolean answers(Endpoint endpoint) {
        return answering.contains(endpoint.host());
    }

    private static EndpointSnapshot list(String... hosts) {
        return EndpointSnapshot.heard(
                Arrays.stream(hosts)
                        .map(host -> Instance.of(new Endpoint(host, 1)))
                        .toList(),
                Instant.EPOCH);
    }

    private static List<String> hosts(List<Instance> instances) {
        return instances.stream().map(instance -> instance.endpoint().host()).toList();
    }

    private LastGood after(LastGood before, EndpointSnapshot next, long now) {
        return before.after(next, this::answers, now);
    }

    private LastGood known(String... hosts) {
        return after(LastGood.before(EndpointSnapshot.unknown(Instant.EPOCH, ""), 0), list(hosts), 0);
    }

    private LastGood later(LastGood before, long now) {
        return before.later(this::answers, !before.listed().isEmpty(), now);
    }

    @Test
    void providersOfAnEmptyListAreHeldForAsLongAsTheyAnswer() {
        answering.remove("c");

        LastGood held = after(known("a", "b", "c"), list(), SECOND);
        assertThat(hosts(held.held())).containsExactly("a", "b");
        assertThat(hosts(later(held, 3_600 * SECOND).held())).containsExactly("a", "b");

        answering.remove("a");
        assertThat(hosts(later(held, 3_601 * SECOND).held())).containsExactly("b");
    }

    @Test
    void providersMissingFromAHalvedListAreHeldForThirtySeconds() {
        LastGood held = after(known("a", "b", "c", "d", "e"), list("a", "b"), SECOND);
        assertThat(hosts(held.listed())).containsExactly("a", "b");
        assertThat(hosts(held.held())).containsExactly("c", "d", "e");

        assertThat(later(held, 30 * SECOND)).isSameAs(held);
        assertThat(later(held, 31 * SECOND).held()).isEmpty();
    }

    @Test
    void providersOfAReplacedListAreHeldForThirtySeconds() {
        answering.remove("c");

        LastGood held = after(known("a", "b", "c"), list("c", "d", "e", "f"), SECOND);
        assertThat(hosts(held.listed())).containsExactly("c", "d", "e", "f");
        assertThat(hosts(held.held())).containsExactly("a", "b");

        LastGood later = after(held, list("c", "d", "e", "f", "g"), 2 * SECOND);
        assertThat(hosts(later.held())).containsExactly("a", "b");
        assertThat(later(later, 31 * SECOND).held()).isEmpty();
    }

    @Test
    void listInAnotherOrderKeepsNoMissingProviders() {
        LastGood known = known("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l");

        LastGood same = after(known, list("l", "k", "j", "i", "h", "g", "f", "e", "d", "c", "b", "a"), SECOND);

        assertThat(same.held()).isEmpty();
    }

    @Test
    void replacementOfAFewProvidersIsObeyed() {
        assertThat(after(known("a", "b", "c"), list("b", "c", "d"), SECOND).held())
                .isEmpty();
        assertThat(after(known("a", "b"), list("b", "c"), SECOND).held()).isEmpty();
    }

    @Test
    void removalOfAFewProvidersIsObeyed() {
        LastGood less = after(known("a", "b", "c"), list("a", "b"), SECOND);

        assertThat(hosts(less.listed())).containsExactly("a", "b");
        assertThat(less.held()).isEmpty();
    }

    @Test
    void heldProvidersAreForgottenWhenTheListHasThemAgain() {
        LastGood held = after(known("a", "b", "c"), list(), SECOND);

        LastGood back = after(held, list("a", "b", "c"), 2 * SECOND);
        assertThat(back.held()).isEmpty();
        assertThat(hosts(back.listed())).containsExactly("a", "b", "c");
    }

    @Test
    void smallListAfterAnEmptyOneHoldsTheOthers() {
        LastGood held = after(known("a", "b", "c"), list(), SECOND);

        assertThat(hosts(after(held, list("a"), 2 * SECOND).held())).containsExactly("b", "c");
    }

    @Test
    void heldProvidersKeepTheirWeightUntilHalfOfTheListIsBack() {
        LastGood emptied = after(known("a", "b", "c", "d", "e"), list(), SECOND);
        assertThat(emptied.areHeldTriedLast()).isFalse();

        LastGood one = after(emptied, list("a"), 3_600 * SECOND);
        assertThat(one.areHeldTriedLast()).isFalse();
        LastGood two = after(one, list("a", "b"), 3_601 * SECOND);
        assertThat(two.areHeldTriedLast()).isFalse();
        assertThat(hosts(two.held())).containsExactly("c", "d", "e");
        assertThat(two.whyHeld()).contains("was empty");

        LastGood three = after(two, list("a", "b", "c"), 3_602 * SECOND);
        assertThat(three.areHeldTriedLast()).isTrue();
        assertThat(hosts(three.held())).containsExactly("d", "e");
    }

    @Test
    void heldProvidersOfAListThatDoesNotFillAreGivenUpAfterThirtySeconds() {
        LastGood emptied = after(known("a", "b", "c", "d", "e"), list(), SECOND);
        LastGood one = after(emptied, list("a"), 100 * SECOND);
        LastGood another = after(one, list("b"), 120 * SECOND);

        assertThat(later(another, 129 * SECOND)).isSameAs(another);
        assertThat(later(another, 130 * SECOND).held()).isEmpty();
        assertThat(after(another, list("c"), 130 * SECOND).areHeldTriedLast()).isTrue();
    }

    @Test
    void heldProvidersOfAShrunkListAreTriedLast() {
        assertThat(after(known("a", "b", "c", "d", "e"), list("a"), SECOND).areHeldTriedLast())
                .isTrue();
    }

    @Test
    void listOfAnUnreachableSourceStaysInUse() {
        LastGood lost = after(known("a"), EndpointSnapshot.unknown(Instant.EPOCH, "lost"), SECOND);

        assertThat(hosts(lost.listed())).containsExactly("a");
    }

    @Test
    void furtherChangesDoNotExtendTheThirtySeconds() {
        LastGood shrunk = after(known("a", "b", "c", "d", "e"), list("a", "b"), SECOND);
        LastGood changed = after(shrunk, list("a", "b", "g"), 20 * SECOND);
        LastGood again = after(changed, list("a", "b"), 25 * SECOND);

        assertThat(hosts(again.held())).containsExactly("c", "d", "e");
        assertThat(later(again, 31 * SECOND).held()).isEmpty();
    }

    /** A registry can lose its providers one after another, for example if all sessions expire within a few seconds. */
    @Test
    void providersOfAListThatShrinksStepByStepAreHeld() {
        LastGood four = after(known("a", "b", "c", "d", "e"), list("a", "b", "c", "d"), SECOND);
        LastGood three = after(four, list("a", "b", "c"), 2 * SECOND);
        assertThat(three.held()).isEmpty();

        LastGood two = after(three, list("a", "b"), 3 * SECOND);
        assertThat(hosts(two.held())).containsExactlyInAnyOrder("c", "d", "e");
        assertThat(two.areHeldTriedLast()).isTrue();
        LastGood one = after(two, list("a"), 4 * SECOND);
        assertThat(hosts(one.held())).containsExactlyInAnyOrder("b", "c", "d", "e");
        assertThat(later(one, 34 * SECOND).held()).isEmpty();

        LastGood none = after(one, list(), 5 * SECOND);
        assertThat(hosts(none.held())).containsExactlyInAnyOrder("a", "b", "c", "d", "e");
        assertThat(none.areHeldTriedLast()).isFalse();
        assertThat(after(none, list("e", "d", "c", "b", "a"), 6 * SECOND).held())
                .isEmpty();
    }

    @Test
    void changesOfAHeldListDoNotExtendTheThirtySeconds() {
        LastGood three = after(known("a", "b", "c", "d", "e"), list("a", "b", "c"), SECOND);
        LastGood held = after(three, list("a", "b"), 2 * SECOND);
        assertThat(hosts(held.held())).containsExactlyInAnyOrder("c", "d", "e");

        LastGood changed = after(held, list("a", "f"), 20 * SECOND);

        assertThat(hosts(changed.held())).containsExactlyInAnyOrder("b", "c", "d", "e");
        assertThat(later(changed, 32 * SECOND).held()).isEmpty();
    }

    @Test
    void listThatShrinksSlowlyIsObeyed() {
        LastGood three = after(known("a", "b", "c", "d", "e"), list("a", "b", "c"), SECOND);

        assertThat(after(three, list("a", "b"), 31 * SECOND).held()).isEmpty();
    }

    @Test
    void listWhoseProvidersAreReplacedStepByStepIsObeyed() {
        LastGood last = known("a", "b", "c");
        for (String[] hosts : new String[][] {{"b", "c", "x"}, {"c", "x", "y"}, {"x", "y", "z"}}) {
            last = after(last, list(hosts), SECOND);
            assertThat(last.held()).isEmpty();
        }
    }

    /**
     * A list may contain no usable provider, for example if the registry was restored with the data of another cluster.
     */
    @Test
    void providersMissingFromAListWithoutAUsableProviderAreHeldForAsLongAsTheyAnswer() {
        LastGood held = after(known("a", "b"), list("x", "y", "z"), SECOND);

        LastGood changed = after(held.later(this::answers, false, 100 * SECOND), list("x", "y"), 101 * SECOND);
        assertThat(hosts(changed.held())).containsExactly("a", "b");
        answering.remove("a");
        LastGood later = changed.later(this::answers, false, 102 * SECOND);

        assertThat(hosts(later.held())).containsExactly("b");
        assertThat(later.later(this::answers, true, 103 * SECOND).held()).isEmpty();
    }
}
