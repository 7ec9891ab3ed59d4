package tern.rpc.diagnosis.machine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.OpenFiles;
import tern.rpc.evidence.OpenFilesReader;

/**
 * Watches what the open files and sockets of this process refer to. At the limit, the process cannot open the folder in
 * {@code /proc} that lists them. Therefore this class keeps one file open, and closes it for the time of the reading.
 * Only one thread uses it.
 */
final class OpenFileWatch {

    private static final long NANOS_BETWEEN_COUNTS = TimeUnit.SECONDS.toNanos(5);
    private static final long NANOS_BETWEEN_READINGS = TimeUnit.MINUTES.toNanos(1);
    private static final int KEPT_READINGS = 10;

    /** If there are more than {@value} open files, they are counted less often, because each count takes a while. */
    private static final int MANY = 10_000;

    /** From this share of the limit on, each count reads what the files refer to. */
    private static final double HIGH = 0.5;

    private final OpenFilesReader reader;
    private final Path reserved;
    private final boolean isSupported;
    private final Deque<Reading> earlier = new ArrayDeque<>(); // at most one per minute, the oldest first
    private @Nullable InputStream reserve;
    private Reading last = new Reading(0, OpenFiles.UNKNOWN);
    private long nextNanos;
    private boolean isFirst = true;

    /** @param root the folder that contains {@code proc} and {@code dev}; {@code /} in production */
    OpenFileWatch(Path root) {
        this.reader = new OpenFilesReader(root);
        this.reserved = root.resolve("dev/null");
        this.isSupported = Files.isDirectory(root.resolve("proc/self/fd"));
    }

    private record Reading(long atNanos, OpenFiles files) {}

    void start() {
        if (isSupported) {
            reserve();
        }
    }

    void stop() {
        release();
    }

    /** Counts the open files if the last count is a few seconds old. Called once a second. */
    void second(long now) {
        if (!isSupported || (!isFirst && now - nextNanos < 0)) {
            return;
        }
        int count = reader.count();
        nextNanos = now + (count > MANY ? NANOS_BETWEEN_READINGS : NANOS_BETWEEN_COUNTS);
        boolean isOld = isFirst || now - last.atNanos >= NANOS_BETWEEN_READINGS;
        long limit = last.files.limit();
        boolean isHigh = count < 0 || (limit > 0 && count >= HIGH * limit);
        if (isOld || isHigh) {
            OpenFiles files = count < 0 ? readWithReserve() : reader.read();
            if (files != null) {
                keep(new Reading(now, files));
            }
        }
    }

    private void keep(Reading reading) {
        Reading newest = earlier.peekLast();
        if (newest == null || reading.atNanos - newest.atNanos >= NANOS_BETWEEN_READINGS) {
            earlier.addLast(reading);
        }
        if (earlier.size() > KEPT_READINGS) {
            earlier.removeFirst();
        }
        last = reading;
        isFirst = false;
    }

    private @Nullable OpenFiles readWithReserve() {
        release();
        try {
            return reader.read();
        } finally {
            reserve();
        }
    }

    private void reserve() {
        try {
            reserve = Files.newInputStream(reserved);
        } catch (IOException e) {
            reserve = null; // no place is free; the next reading tries again
        }
    }

    private void release() {
        InputStream open = reserve;
        reserve = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The file has no content, so nothing is lost.
            }
        }
    }

    /** Returns the last reading, compared with the oldest reading of the last minutes. */
    OpenFileUse use() {
        Reading oldest = earlier.peekFirst();
        return oldest == null || oldest.equals(last)
                ? new OpenFileUse(last.files, OpenFiles.UNKNOWN, 0)
                : new OpenFileUse(
                        last.files, oldest.files, TimeUnit.NANOSECONDS.toSeconds(last.atNanos - oldest.atNanos));
    }
}
