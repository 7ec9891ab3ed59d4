package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;

/** The published entries of one process in a file registry. */
final class FilePublication implements Publication {

    private final FileRegistry registry;
    private final Registration registration;
    private final CompletableFuture<Void> seen = new CompletableFuture<>();
    private volatile String problem = "";

    FilePublication(FileRegistry registry, Registration registration) {
        this.registry = registry;
        this.registration = registration;
        verify();
    }

    @Override
    public CompletableFuture<Void> seen() {
        return seen;
    }

    @Override
    public String problem() {
        return problem;
    }

    @Override
    public CompletableFuture<Repair> verify() {
        return registry.change(content -> content.has(registration) ? content : content.with(registration))
                .whenComplete((before, failure) -> {
                    problem = failure == null ? "" : String.valueOf(failure.getMessage());
                    if (failure == null) {
                        seen.complete(null);
                    }
                })
                .thenApply(before -> before.has(registration) ? Repair.NONE : Repair.MISSING);
    }

    @Override
    public CompletableFuture<Void> withdraw() {
        return registry.change(content -> content.without(registration)).thenApply(before -> null);
    }
}
