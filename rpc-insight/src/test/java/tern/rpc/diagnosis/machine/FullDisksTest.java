package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which file systems are named as full. */
class FullDisksTest {

    /**
     * A simulated file system of 1 GB. A test fails if it asks a network file system for its size, because such a
     * request may hang.
     */
    private static final class Store extends FileStore {
        private final String path;
        private final String type;
        private final long free;
        private final boolean readOnly;

        Store(String path, String type, long free, boolean readOnly) {
            this.path = path;
            this.type = type;
            this.free = free;
            this.readOnly = readOnly;
        }

        @Override
        public String name() {
            return "/dev/sda1";
        }

        @Override
        public String type() {
            return type;
        }

        @Override
        public boolean isReadOnly() {
            return readOnly;
        }

        @Override
        public long getTotalSpace() {
            return 1L << 30;
        }

        @Override
        public long getUsableSpace() throws IOException {
            if (type.startsWith("nfs")) {
                throw new AssertionError("this read may not return");
            }
            if (free < 0) {
                throw new IOException("unmounted");
            }
            return free;
        }

        @Override
        public long getUnallocatedSpace() {
            return free;
        }

        @Override
        public boolean supportsFileAttributeView(Class<? extends FileAttributeView> view) {
            return false;
        }

        @Override
        public boolean supportsFileAttributeView(String name) {
            return false;
        }

        @Override
        public <V extends FileStoreAttributeView> V getFileStoreAttributeView(Class<V> view) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object getAttribute(String attribute) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String toString() {
            return path + " (" + name() + ")";
        }
    }

    @Test
    void fileSystemWithoutFreeSpaceIsNamed() {
        assertThat(FullDisks.text(List.of(
                        new Store("/", "ext4", 5L << 30, false),
                        new Store("/proofs", "xfs", 4096, false),
                        new Store("/snap", "ext4", 0, true),
                        new Store("/gone", "ext4", -1, false),
                        new Store("/share", "nfs4", 0, false))))
                .isEqualTo("; full: /proofs (/dev/sda1)");
    }

    @Test
    void nothingIsAddedIfNoFileSystemIsFull() {
        assertThat(FullDisks.text(List.of(new Store("/", "ext4", 5L << 30, false))))
                .isEmpty();
    }
}
