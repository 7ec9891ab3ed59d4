package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.evidence.OpenFiles.Kind;
import tern.rpc.evidence.OpenFiles.Target;

class OpenFilesReaderTest {

    private static final String HEAD =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid\n";

    @TempDir
    private Path root;

    private int next;

    @BeforeEach
    void createFolders() throws IOException {
        Files.createDirectories(root.resolve("proc/self/fd"));
        Files.createDirectories(root.resolve("proc/self/net"));
        write("limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            260                  4096                 files
                """);
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(root.resolve("proc/self").resolve(file), text);
    }

    private void open(int times, String target) throws IOException {
        for (int i = 0; i < times; i++) {
            Files.createSymbolicLink(root.resolve("proc/self/fd/" + next++), Path.of(target));
        }
    }

    private static String row(String local, String remote, String state, int inode) {
        return "   0: " + local + " " + remote + " " + state + " 00000000:00000000 00:00000000 00000000  1000        0 "
                + inode + " 1 0000000000000000 20 4 30 10 -1\n";
    }

    private OpenFiles read() {
        OpenFiles files = new OpenFilesReader(root).read();
        assertThat(files).isNotNull();
        return files;
    }

    @Test
    void socketsAreCountedByTheAddressOfThePeer() throws IOException {
        open(1, "socket:[101]");
        open(1, "socket:[102]");
        open(1, "socket:[103]");
        open(1, "socket:[104]");
        write(
                "net/tcp",
                HEAD
                        + row("0100007F:9C40", "0100007F:26B7", "01", 101)
                        + row("0100007F:9C41", "0100007F:26B7", "08", 102)
                        + row("0100007F:9C42", "0700000A:0050", "01", 103));

        assertThat(read().targets())
                .containsExactly(
                        new Target(Kind.SOCKET, "sockets to 127.0.0.1:9911", 2, 1),
                        new Target(Kind.SOCKET, "sockets to 10.0.0.7:80", 1, 0),
                        new Target(Kind.SOCKET, "sockets without a TCP connection", 1, 0));
    }

    @Test
    void socketsOfClientsAreCountedByThePort() throws IOException {
        open(1, "socket:[1]");
        open(1, "socket:[2]");
        open(1, "socket:[3]");
        write(
                "net/tcp6",
                HEAD
                        + row("00000000000000000000000000000000:1F90", "00000000000000000000000000000000:0000", "0A", 1)
                        + row("0000000000000000FFFF00000100007F:1F90", "0000000000000000FFFF00000100007F:9C40", "01", 2)
                        + row(
                                "00000000000000000000000001000000:1F90",
                                "00000000000000000000000001000000:9C41",
                                "01",
                                3));

        assertThat(read().targets())
                .containsExactly(
                        new Target(Kind.SOCKET, "sockets of clients at port 8080", 2, 0),
                        new Target(Kind.SOCKET, "listening sockets", 1, 0));
    }

    @Test
    void addressesOfBothFormsAreReadable() throws IOException {
        open(1, "socket:[1]");
        open(1, "socket:[2]");
        write(
                "net/tcp6",
                HEAD
                        + row("0000000000000000FFFF00000100007F:9C40", "0000000000000000FFFF00000100007F:26B7", "01", 1)
                        + row(
                                "00000000000000000000000001000000:9C41",
                                "00000000000000000000000001000000:26B7",
                                "01",
                                2));

        assertThat(read().targets())
                .extracting(Target::name)
                .containsExactlyInAnyOrder("sockets to 127.0.0.1:9911", "sockets to [::1]:9911");
    }

    @Test
    void filesAreCountedByFolderAndPipesTogether() throws IOException {
        open(2, "/var/data/proofs/a.pdf");
        open(1, "/var/data/proofs/b.pdf (deleted)");
        open(1, "/var/data/proofs/c.pdf");
        open(2, "/app/app.jar");
        open(1, "pipe:[7]");
        open(1, "pipe:[8]");
        open(1, "anon_inode:[eventpoll]");

        assertThat(read().targets())
                .containsExactly(
                        new Target(Kind.FILE, "files in /var/data/proofs", 4, 0),
                        new Target(Kind.FILE, "file /app/app.jar", 2, 0),
                        new Target(Kind.PIPE, "pipes", 2, 0),
                        new Target(Kind.OTHER, "selectors (epoll)", 1, 0));
    }

    @Test
    void limitAndNumberAreRead() throws IOException {
        open(3, "/app/app.jar");

        assertThat(read().limit()).isEqualTo(260);
        assertThat(read().open()).isEqualTo(3);
        assertThat(new OpenFilesReader(root).count()).isEqualTo(3);
    }

    @Test
    void nothingIsKnownWithoutTheFoldersOfTheKernel() {
        OpenFilesReader reader = new OpenFilesReader(root.resolve("other"));

        assertThat(reader.read()).isNull();
        assertThat(reader.count()).isEqualTo(-1);
        assertThat(reader.limit()).isEqualTo(-1);
    }
}
