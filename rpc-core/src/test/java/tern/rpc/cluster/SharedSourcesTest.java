package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

class SharedSourcesTest {

    private final List<Runnable> later = new ArrayList<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(0) {
        @Override
        public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
            later.add(action);
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
                throw new OutOfMemoryError("planted");
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
}
