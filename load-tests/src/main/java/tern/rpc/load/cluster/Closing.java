package tern.rpc.load.cluster;

import java.util.Deque;

/** Closes a framework's resources in reverse order. */
final class Closing {

    private Closing() {}

    static void all(Deque<AutoCloseable> opened) {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("a framework could not be closed", e);
            }
        }
    }
}
