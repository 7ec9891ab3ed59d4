package tern.rpc.spring.autoconfigure.advice;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import tern.rpc.advice.Situation;
import tern.rpc.advice.ThreadGroupCpu;

/**
 * The processor time of this process and of its platform threads so far.
 *
 * @param processNanos all threads, including those of the JVM
 * @param threads by id
 * @param machine all processes together
 */
record ProcessorTime(long processNanos, Map<Long, ThreadTime> threads, MachineTime machine) {

    static final ProcessorTime NONE = new ProcessorTime(0, Map.of(), MachineTime.UNKNOWN);

    /** The part of a name that distinguishes threads of one group: {@code lettuce-nioEventLoop-5-1}. */
    private static final Pattern NUMBERS = Pattern.compile("[-#\\d]+$");

    /** The highest number of groups in a report. */
    private static final int MAX_GROUPS = 16;

    record ThreadTime(String group, long nanos) {}

    static ProcessorTime now() {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        Map<Long, ThreadTime> threads = new HashMap<>();
        if (bean.isThreadCpuTimeSupported() && bean.isThreadCpuTimeEnabled()) {
            for (ThreadInfo thread : bean.getThreadInfo(bean.getAllThreadIds())) {
                long nanos = thread == null ? -1 : bean.getThreadCpuTime(thread.getThreadId());
                if (nanos >= 0) {
                    threads.put(thread.getThreadId(), new ThreadTime(group(thread.getThreadName()), nanos));
                }
            }
        }
        return new ProcessorTime(ofProcess(), threads, MachineTime.now());
    }

    private static long ofProcess() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime()
                : 0;
    }

    static String group(String thread) {
        return NUMBERS.matcher(thread).replaceFirst("");
    }

    Situation.Cpu since(ProcessorTime earlier, long nanos) {
        Map<String, Integer> counts = new HashMap<>();
        Map<String, Long> used = new HashMap<>();
        threads.forEach((id, thread) -> {
            ThreadTime then = earlier.threads.get(id);
            counts.merge(thread.group(), 1, Integer::sum);
            used.merge(thread.group(), thread.nanos() - (then == null ? 0 : then.nanos()), Long::sum);
        });
        double elapsed = Math.max(1, nanos);
        List<ThreadGroupCpu> groups = used.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MAX_GROUPS)
                .map(group -> new ThreadGroupCpu(
                        group.getKey(), counts.getOrDefault(group.getKey(), 0), group.getValue() / elapsed))
                .toList();
        int processors = Runtime.getRuntime().availableProcessors();
        double busy = (processNanos - earlier.processNanos) / elapsed;
        double all = processors * machine.busySince(earlier.machine);
        return new Situation.Cpu(processors, busy, Math.max(busy, all), groups);
    }
}
