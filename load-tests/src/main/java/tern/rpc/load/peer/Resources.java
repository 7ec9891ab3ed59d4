package tern.rpc.load.peer;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;

/**
 * The resources that a process holds.
 *
 * @param heapBytes the heap bytes in use after a full garbage collection
 * @param oldBytes the bytes of the old generation in use after a full garbage collection
 * @param threads the number of live threads
 * @param descriptors the number of open file descriptors; 0 if the operating system does not report them
 * @param directBytes the bytes in direct buffers of the JDK
 * @param pooledBytes the memory that Netty's allocator has reserved, whether or not it is in use
 * @param fullCollections the number of full garbage collections so far, without the collections that this measurement
 *     caused
 */
record Resources(
        long heapBytes,
        long oldBytes,
        long threads,
        long descriptors,
        long directBytes,
        long pooledBytes,
        long fullCollections) {

    /**
     * Collects garbage and reads the resources.
     *
     * @param asked the number of previous calls to this method in this process
     */
    static Resources read(long asked) {
        System.gc();
        return new Resources(
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                oldBytesNow(),
                ManagementFactory.getThreadMXBean().getThreadCount(),
                ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                        ? unix.getOpenFileDescriptorCount()
                        : 0,
                ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum(),
                pooledBytesNow(),
                fullCollectionsNow() - asked - 1);
    }

    private static long oldBytesNow() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .filter(pool -> pool.getName().contains("Old") || pool.getName().contains("Tenured"))
                .map(MemoryPoolMXBean::getUsage)
                .mapToLong(usage -> usage.getUsed())
                .sum();
    }

    private static long pooledBytesNow() {
        return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider provider
                ? provider.metric().usedDirectMemory()
                : 0;
    }

    private static long fullCollectionsNow() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> collector.getName().contains("Old")
                        || collector.getName().contains("MarkSweep"))
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }

    static Resources of(String[] words, int first) {
        return new Resources(
                Long.parseLong(words[first]),
                Long.parseLong(words[first + 1]),
                Long.parseLong(words[first + 2]),
                Long.parseLong(words[first + 3]),
                Long.parseLong(words[first + 4]),
                Long.parseLong(words[first + 5]),
                Long.parseLong(words[first + 6]));
    }

    String words() {
        return heapBytes + " " + oldBytes + " " + threads + " " + descriptors + " " + directBytes + " " + pooledBytes
                + " " + fullCollections;
    }
}
