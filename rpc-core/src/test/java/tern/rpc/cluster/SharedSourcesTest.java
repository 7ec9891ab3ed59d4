package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

class SharedSourcesTest {

    private final List<Runnable> later = new ArrayList<>();
    private final List<Long> delays = new ArrayList<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(0) {
        @Override
        public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
            later.add(action);
            delays.add(unit.toMillis(delay));
            return super.schedule((Callable<@Nullable Void>) () -> null, 1, TimeUnit.DAYS);
        }
    };
    private final Listed source = new Listed();

    /** A source whose list is set by the test. */
    private static final class Listed implements EndpointSource {
        private Consumer<EndpointSnapshot> listener = snapshot -> {};

        @Override
        public void start(Consumer<EndpointSnapshot> told) {
            listener = told;
        }

        @Override
        public void refresh() {}

        @Override
        public Object key() {
            return "listed";
        }

        @Override
        public void close() {}
    }

    private static int size(EndpointSnapshot snapshot) {
        return snapshot.instances().size();
    }

    @Test
    void referenceThatRanOutOfMemoryGetsTheListAgain() {
        SharedSources sources = new SharedSources(() -> 0, timer);
        List<Integer> first = new ArrayList<>();
        List<Integer> second = new ArrayList<>();
        int[] failures = {0};
        sources.subscribe(source, "Orders", snapshot -> {
            if (size(snapshot) > 0 && failures[0]++ == 0) {
                throw new OutOfMemoryError("injected");
            }
            first.add(size(snapshot));
        });
        sources.subscribe(source, "Stock", snapshot -> second.add(size(snapshot)));

        source.listener.accept(EndpointSnapshot.heard(
                List.of(Instance.of(new Endpoint("10.0.0.1", 20880, "", "dubbo"))), Instant.EPOCH));
        assertThat(first).containsExactly(0);
        assertThat(second).containsExactly(0, 1);
        later.remove(0).run();

        assertThat(first).containsExactly(0, 1);
        assertThat(later).isEmpty();
        timer.shutdownNow();
    }

    @Test
    void referenceThatCannotApplyTheFirstListDoesNotKeepTheSourceOpen() {
        SharedSources sources = new SharedSources(() -> 0, timer);
        SharedSources.Subscription first = sources.subscribe(source, "Orders", snapshot -> {});
        source.listener.accept(listOf(1));

        assertThatThrownBy(() -> sources.subscribe(source, "Stock", snapshot -> {
                    throw new IllegalArgumentException("the keys cannot be used");
                }))
                .hasMessage("the keys cannot be used");
        first.close();

        assertThat(sources.size()).isZero();
        timer.shutdownNow();
    }

    @Test
    void addressThatCannotBeAProviderIsLeftOutAtEachPositionOfAKnownList() {
        long[] now = {0};
        SharedSources sources = new SharedSources(() -> now[0], timer);
        List<EndpointSnapshot> heard = new ArrayList<>();
        sources.subscribe(source, "Orders", heard::add);
        List<Instance> known = IntStream.range(1, 40)
                .mapToObj(i -> Instance.of(new Endpoint("10.0.0." + i, 20880)))
                .toList();

        for (int position = 0; position < known.size(); position++) {
            source.listener.accept(EndpointSnapshot.heard(known, Instant.EPOCH));
            List<Instance> changed = new ArrayList<>(known);
            changed.set(position, Instance.of(new Endpoint("0.0.0.0", 20000 + position)));
            changed.add(position, Instance.of(new Endpoint("10.0.1." + position, 20880)));
            changed.remove((position + 20) % changed.size());
            source.listener.accept(EndpointSnapshot.heard(changed, Instant.EPOCH));
            now[0] += TimeUnit.MINUTES.toNanos(1); // After a minute without changes, a change is passed on immediately.
            later.forEach(Runnable::run);
            later.clear();

            assertThat(heard.get(heard.size() - 1).instances())
                    .hasSizeBetween(37, 39)
                    .allMatch(instance -> instance.endpoint().mayBeProvider());
        }
        timer.shutdownNow();
    }

    @Test
    void waitingListIsPassedOnEarlyIfNoProviderCanBeUsed() {
        long[] now = {0};
        SharedSources sources = new SharedSources(() -> now[0], timer);
        List<Integer> sizes = new ArrayList<>();
        SharedSources.Subscription subscription =
                sources.subscribe(source, "Orders", snapshot -> sizes.add(size(snapshot)));
        source.listener.accept(listOf(1));
        for (int i = 2; i <= 4; i++) {
            source.listener.accept(listOf(i));
            now[0] += TimeUnit.MILLISECONDS.toNanos(delays.get(delays.size() - 1));
            later.remove(0).run();
        }
        source.listener.accept(listOf(5));
        assertThat(delays).containsExactly(100L, 200L, 400L, 800L);

        now[0] += TimeUnit.MILLISECONDS.toNanos(10);
        subscription.refresh();
        subscription.refresh();
        assertThat(delays).containsExactly(100L, 200L, 400L, 800L, 90L);
        later.remove(1).run();
        assertThat(sizes).containsExactly(0, 1, 2, 3, 4, 5);

        later.remove(0).run();
        subscription.refresh();
        assertThat(sizes).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(later).isEmpty();
        timer.shutdownNow();
    }

    @Test
    void delayedLineIsWrittenWhileAListIsBeingPassedOn() {
        long[] now = {0};
        SharedSources sources = new SharedSources(() -> now[0], timer);
        sources.subscribe(source, "Orders", snapshot -> {
            if (size(snapshot) == 2) {
                runOnAnotherThread(later.remove(0));
            }
        });
        for (int i = 0; i < 5; i++) {
            source.listener.accept(EndpointSnapshot.stale(listOf(1).instances(), Instant.EPOCH, "fault " + i));
            now[0] += TimeUnit.SECONDS.toNanos(3);
        }
        assertThat(delays).as("only the fifth line is delayed").containsExactly(15_000L);
        now[0] += TimeUnit.SECONDS.toNanos(15);

        try (LoggedLines lines = new LoggedLines()) {
            source.listener.accept(listOf(2));

            assertThat(lines.all())
                    .singleElement()
                    .asString()
                    .contains("The list of Orders from ")
                    .contains("it has 2 providers");
        }
        timer.shutdownNow();
    }

    private static void runOnAnotherThread(Runnable task) {
        try {
            CompletableFuture.runAsync(task).get(10, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the task did not end", e);
        }
    }

    private static EndpointSnapshot listOf(int providers) {
        return EndpointSnapshot.heard(
                IntStream.range(0, providers)
                        .mapToObj(i -> Instance.of(new Endpoint("10.0.0." + (i + 1), 20880)))
                        .toList(),
                Instant.EPOCH);
    }
}
