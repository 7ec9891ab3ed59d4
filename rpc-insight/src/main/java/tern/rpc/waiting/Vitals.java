package tern.rpc.waiting;

import java.util.List;

/**
 * The state of process and machine, to be read before any stack.
 *
 * @param lines CPU, memory, network, disk and collections, in this order; without those that the system does not
 *     provide
 */
public record Vitals(List<Line> lines) {

    public Vitals {
        lines = List.copyOf(lines);
    }

    /** @param text figures with their units */
    public record Line(String name, String text) {}
}
