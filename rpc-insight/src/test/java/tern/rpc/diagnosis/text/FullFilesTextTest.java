package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.SocketException;
import java.nio.file.FileSystemException;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.evidence.OpenFiles;
import tern.rpc.evidence.OpenFiles.Kind;
import tern.rpc.evidence.OpenFiles.Target;

/** Tests failures because the process has reached its limit of open files. */
class FullFilesTextTest {

    private static final OpenFiles BEFORE =
            new OpenFiles(260, 70, List.of(new Target(Kind.SOCKET, "sockets to 127.0.0.1:9911", 12, 0)));

    private static <T extends Throwable> T thrownIn(T failure, String type, int line) {
        failure.setStackTrace(
                new StackTraceElement[] {new StackTraceElement("shop." + type, "run", type + ".java", line)});
        return failure;
    }

    private static SampledCalls failing() {
        return new SampledCalls()
                .failing(thrownIn(new FileSystemException("/data/1", null, "Too many open files"), "Proofs", 28))
                .calls("web.GET /proofs", Phase.OWN, 1, samples -> {})
                .failing(thrownIn(new SocketException("Too many open files"), "Notices", 63))
                .calls("web.POST /notices", Phase.OWN, 1, samples -> {});
    }

    private static OpenFileUse use(Target... targets) {
        return new OpenFileUse(new OpenFiles(260, 260, List.of(targets)), BEFORE, 480);
    }

    @Test
    void whatTheProcessLeavesOpenIsTheCauseAndNotTheCodeThatFindsNoFreePlace() {
        List<Cause> causes = failing()
                .openFiles(use(
                        new Target(Kind.SOCKET, "sockets to 127.0.0.1:9911", 150, 140),
                        new Target(Kind.FILE, "files in /app/lib", 41, 0)))
                .causes();

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("FAILURE: Too many open files: sockets to 127.0.0.1:9911");
        assertThat(causes.get(0).change().text())
                .isEqualTo("close the sockets to 127.0.0.1:9911 after use, or use one client with a pool, most likely"
                        + " opened in Notices.run:63: 150 sockets to 127.0.0.1:9911 (8 min before: 12); the peer has"
                        + " closed 140 of them already, and this process has not; otherwise raise the limit (ulimit"
                        + " -n 260)");
        assertThat(causes.get(0).evidence())
                .contains(
                        "open     260 of 260 files and sockets: 150 sockets to 127.0.0.1:9911 (8 min before: 12), 41 files"
                                + " in /app/lib (8 min before: 0)",
                        "fails    50 % in FileSystemException in Proofs.run:28",
                        "fails    50 % in SocketException in Notices.run:63");
    }

    @Test
    void filesThatStayOpenAreNamedWithTheLineThatOpensFiles() {
        Cause first = failing()
                .openFiles(use(new Target(Kind.FILE, "files in /data/proofs", 200, 0)))
                .causes()
                .get(0);

        assertThat(first.change().text())
                .startsWith("close the files in /data/proofs after use (try-with-resources), most likely opened in"
                        + " Proofs.run:28: 200 files in /data/proofs");
    }

    @Test
    void pipesThatNoFailingCodeOpensAreNamedWithoutALine() {
        Cause first = failing()
                .openFiles(use(new Target(Kind.PIPE, "pipes", 180, 0)))
                .causes()
                .get(0);

        assertThat(first.change().text()).startsWith("close the pipes to child processes after use: 180 pipes");
    }

    @Test
    void failuresOfSeveralLinesAreOneCauseEvenIfOpenFilesAreUnknown() {
        List<Cause> causes = failing().causes();

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("FAILURE: Too many open files");
        assertThat(causes.get(0).change().text()).startsWith("close files and sockets, or raise the limit");
        assertThat(causes.get(0).evidence()).anyMatch(line -> line.startsWith("fails    50 % in "));
    }
}
