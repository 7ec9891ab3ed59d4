package tern.rpc.load.peer;

import java.util.ArrayDeque;
import java.util.Deque;

/** The open resources of a compared framework. The resources are closed in reverse order. Not thread-safe. */
final class Opened implements AutoCloseable {

    private final Deque<AutoCloseable> all = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T opened) {
        all.push(opened);
        return opened;
    }

    @Override
    public void close() {
        while (!all.isEmpty()) {
            try {
                all.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("a peer could not be closed", e);
            }
        }
    }
}
