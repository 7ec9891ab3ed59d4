package tern.rpc.advice;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Threads of a client library that eat the processor: the event loops of Lettuce, which decode every answer for all callers. */
final class ClientThreads implements Rule {

    private static final String LETTUCE = "lettuce-";

    /** Of all that the process burns; less than this is the price of talking to Redis with any client. */
    private static final double SHARE = 0.25;

    /** Of all processors: a call hops to the loop and back with each command, and both hops wait for a processor. */
    private static final double CROWDED = 0.65;

    @Override
    public Stream<Finding> check(Situation situation) {
        Situation.Cpu cpu = situation.cpu();
        List<ThreadGroupCpu> loops = cpu.groups().stream()
                .filter(group -> group.name().startsWith(LETTUCE))
                .toList();
        if (loops.isEmpty()) {
            return Stream.empty();
        }
        int threads = loops.stream().mapToInt(ThreadGroupCpu::threads).sum();
        double cores = loops.stream().mapToDouble(ThreadGroupCpu::cores).sum();
        boolean crowded = Math.max(cpu.busy(), cpu.machine()) >= CROWDED * cpu.processors();
        boolean heavy = crowded && cores >= SHARE * cpu.busy();
        Duration slow = situation.slowest().map(CallSnapshot::mean).orElse(Duration.ZERO);
        return Stream.of(new Finding(
                "client-threads",
                heavy ? situation.urgency() : Severity.HINTS,
                "processor, taken by the event loops of the Redis client Lettuce",
                threads + " threads " + LETTUCE + "* keep " + Advisor.number(cores) + " of " + cpu.processors()
                        + " processors busy, the process " + Advisor.number(cpu.busy()) + ", the machine "
                        + Advisor.number(cpu.machine()),
                "spring.data.redis.client-type=jedis",
                "callers decode their own answers: about half the processor time per command, on all threads; needs"
                        + " redis.clients:jedis on the class path",
                heavy ? slow : Duration.ZERO));
    }
}
