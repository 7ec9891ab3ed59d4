package tern.rpc.diagnosis;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import tern.rpc.diagnosis.Machine.Burner;
import tern.rpc.diagnosis.Part.Kind;

/** Reads processors and memory of this process and its container. Used by one thread. */
final class MachineWatch {

    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int MAX_BURNERS = 5;
    private static final Pattern NUMBERS = Pattern.compile("[-#\\d]+$");
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final CollectorLog collectors = new CollectorLog();
    private final Quota quota = Quota.find();
    private Look last = new Look(System.nanoTime(), SYSTEM.getProcessCpuTime(), 0, Quota.Use.NONE, Map.of());
    private Machine latest = Machine.UNKNOWN;

    MachineWatch() {
        collectors.start();
    }

    private record Look(long at, long cpuNanos, long freedBytes, Quota.Use quota, Map<Long, Long> threads) {}

    /** The figures of the time since the last call; those of the last call if that was less than half a second ago. */
    Machine read(boolean withThreads) {
        long now = System.nanoTime();
        if (now - last.at < MIN_NANOS) {
            return latest;
        }
        Look look = new Look(
                now,
                SYSTEM.getProcessCpuTime(),
                collectors.freedBytes(),
                quota.use(),
                withThreads ? cpuByThread() : Map.of());
        double elapsed = now - last.at;
        double processors = Math.min(SYSTEM.getAvailableProcessors(), quota.processors());
        double own = (look.cpuNanos - last.cpuNanos) / elapsed;
        double load = SYSTEM.getCpuLoad();
        double others = load < 0 ? -1 : Math.max(0, load * SYSTEM.getAvailableProcessors() - own);
        latest = new Machine(
                processors,
                own,
                others,
                look.quota.throttledSince(last.quota),
                collectors.between(last.at, now).sum() / elapsed,
                collectors.live(),
                (look.freedBytes - last.freedBytes) / elapsed * 1e9,
                -1,
                -1,
                -1,
                burners(look, elapsed),
                List.of());
        last = look;
        return latest;
    }

    private static Map<Long, Long> cpuByThread() {
        Map<Long, Long> times = new HashMap<>();
        if (THREADS.isThreadCpuTimeSupported() && THREADS.isThreadCpuTimeEnabled()) {
            for (long id : THREADS.getAllThreadIds()) {
                long nanos = THREADS.getThreadCpuTime(id);
                if (nanos >= 0) {
                    times.put(id, nanos);
                }
            }
        }
        return times;
    }

    private List<Burner> burners(Look look, double elapsed) {
        if (look.threads.isEmpty() || last.threads.isEmpty()) {
            return List.of();
        }
        Map<String, Long> used = new HashMap<>();
        Map<String, Integer> counts = new HashMap<>();
        look.threads.forEach((id, nanos) -> {
            long spent = nanos - last.threads.getOrDefault(id, 0L);
            ThreadInfo info = spent > elapsed / 100 ? THREADS.getThreadInfo(id) : null;
            if (info != null) {
                String group = NUMBERS.matcher(info.getThreadName()).replaceFirst("");
                used.merge(group, spent, Long::sum);
                counts.merge(group, 1, Integer::sum);
            }
        });
        List<Burner> burners = new ArrayList<>();
        used.forEach((group, nanos) -> burners.add(new Burner(group, counts.getOrDefault(group, 1), nanos / elapsed)));
        burners.sort(Comparator.comparingDouble(Burner::processors).reversed());
        return burners.subList(0, Math.min(MAX_BURNERS, burners.size()));
    }

    /** The pauses of the process in this time. */
    Times pauses(long fromNanos, long toNanos) {
        return collectors.between(fromNanos, toNanos).only(part -> part.kind() == Kind.COLLECTOR);
    }
}
