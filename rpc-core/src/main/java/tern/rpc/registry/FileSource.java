package tern.rpc.registry;

import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;

/** Reports the providers that a file lists for one service. */
final class FileSource implements EndpointSource {

    private record Key(RegistryUrl url, Subscription subscription) {}

    private final FileRegistry registry;
    private final Subscription subscription;
    private final Clock clock;
    private volatile @Nullable Consumer<EndpointSnapshot> listener;
    private @Nullable EndpointSnapshot last; // Only the registry's thread uses the field "last".

    FileSource(FileRegistry registry, Subscription subscription, Clock clock) {
        this.registry = registry;
        this.subscription = subscription;
        this.clock = clock;
    }

    @Override
    public void start(Consumer<EndpointSnapshot> newListener) {
        listener = newListener;
        registry.start(this);
    }

    /** Reports the state of the file to the listener. Called on the registry's thread. */
    void report(FileState state) {
        Consumer<EndpointSnapshot> current = listener;
        EndpointSnapshot snapshot = snapshot(state);
        if (current != null && (last == null || !snapshot.saysTheSameAs(last))) {
            last = snapshot;
            current.accept(snapshot);
        }
    }

    private EndpointSnapshot snapshot(FileState state) {
        if (!state.heard()) {
            return EndpointSnapshot.unknown(clock.instant(), registry.url() + ": " + state.problem());
        }
        String why = state.content().whyNobody(subscription);
        if (state.problem().isEmpty() && !why.isEmpty()) {
            return new EndpointSnapshot(EndpointSnapshot.State.EMPTY, List.of(), clock.instant(), why);
        }
        return state.problem().isEmpty()
                ? EndpointSnapshot.heard(state.content().providers(subscription), clock.instant())
                : EndpointSnapshot.stale(
                        state.content().providers(subscription),
                        clock.instant(),
                        registry.url() + ": " + state.problem());
    }

    @Override
    public Object key() {
        return new Key(registry.url(), subscription);
    }

    @Override
    public void close() {
        listener = null;
        registry.stop(this);
    }

    @Override
    public String toString() {
        return registry.url() + " for " + subscription.service();
    }
}
