package tern.rpc.diagnosis.machine;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileSystems;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Finds the file systems without free space. The exception of a write does not name its file system. */
public final class FullDisks {

    /**
     * The types of file systems whose free space is read. The read of a network file system may not return, so these
     * are left out.
     */
    private static final Set<String> LOCAL = Set.of("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay");

    /** A file system counts as full if fewer than {@value} bytes are free. */
    private static final long LEAST_FREE = 1 << 20;

    private static final int MAX_NAMES = 3;

    private FullDisks() {}

    /** Returns text with the full file systems, after a separator; an empty string if there are none. */
    public static String text() {
        return text(FileSystems.getDefault().getFileStores());
    }

    static String text(Iterable<FileStore> stores) {
        List<String> full = new ArrayList<>();
        for (FileStore store : stores) {
            if (full.size() < MAX_NAMES && isFull(store)) {
                full.add(store.toString());
            }
        }
        return full.isEmpty() ? "" : "; full: " + String.join(", ", full);
    }

    private static boolean isFull(FileStore store) {
        try {
            return LOCAL.contains(store.type())
                    && !store.isReadOnly()
                    && store.getTotalSpace() > LEAST_FREE
                    && store.getUsableSpace() < LEAST_FREE;
        } catch (IOException e) {
            return false; // the file system was unmounted in the meantime, or this process may not read it
        }
    }
}
