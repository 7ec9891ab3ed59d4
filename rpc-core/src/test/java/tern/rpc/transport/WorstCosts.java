package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects the costs of many messages. Remembers the message with the highest CPU time and the message with the highest
 * memory use.
 */
public final class WorstCosts {

    private final List<String> broken = new ArrayList<>();
    private double worstCpu;
    private double worstHeap;
    private String slowest = "";
    private String largest = "";
    private int count;

    /**
     * Adds the cost of a message.
     *
     * @param name the name of the message in the report
     * @param messageBytes the size of the message
     * @param maxAllocated the maximum number of bytes that the message may allocate
     */
    public void add(String name, Cost cost, int messageBytes, long maxAllocated) {
        String told = name + ", " + cost.toString(messageBytes);
        count++;
        if (cost.cpuShare(messageBytes) > worstCpu) {
            worstCpu = cost.cpuShare(messageBytes);
            slowest = told;
        }
        if (cost.heapShare(messageBytes) > worstHeap) {
            worstHeap = cost.heapShare(messageBytes);
            largest = told;
        }
        if (cost.cpuShare(messageBytes) > 1 || cost.allocatedBytes() > maxAllocated) {
            broken.add(told);
        }
    }

    /** Prints the worst costs, and fails if a message exceeded its limits. */
    public void report(String format) {
        System.out.printf(
                "R2 %s: %d bombs, slowest at %.2f of 100 ms per MiB (%s), largest at %.1f of 4x + 1 MiB (%s)%n",
                format, count, worstCpu, slowest, worstHeap, largest);
        assertThat(broken).isEmpty();
    }
}
