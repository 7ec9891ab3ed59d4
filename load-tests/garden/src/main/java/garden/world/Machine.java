package garden.world;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits the processor time of the shop application. Uses competing processes, a restricted set of processors and, if
 * the kernel permits it, a quota.
 */
public final class Machine {

    private static final Path GROUPS = Path.of("/sys/fs/cgroup/cpu");
    private static final Path GROUP =
            GROUPS.resolve("tern-garden-" + ProcessHandle.current().pid());

    private final List<Process> neighbours = new ArrayList<>();
    private long pid;

    /**
     * Sets the process of the shop application, and moves it to its own control group (cgroup) if the kernel permits
     * it.
     */
    public void shop(long pid) throws IOException {
        this.pid = pid;
        if (allowsQuota()) {
            Files.createDirectories(GROUP);
            Files.writeString(GROUP.resolve("cgroup.procs"), String.valueOf(pid));
        }
    }

    /** Starts processes that compete with the shop application for the processors for up to a minute. */
    public void neighbours(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            neighbours.add(new ProcessBuilder("timeout", "60", "sh", "-c", "while :; do :; done").start());
        }
    }

    /** Limits the shop application to one processor, and starts competing processes on the same processor. */
    public void oneProcessor(int neighbours) throws IOException {
        run("taskset", "-ap", "-c", "0", String.valueOf(pid));
        for (int i = 0; i < neighbours; i++) {
            this.neighbours.add(
                    new ProcessBuilder("taskset", "-c", "0", "timeout", "60", "sh", "-c", "while :; do :; done")
                            .start());
        }
    }

    /**
     * Returns whether this process is allowed to set a quota, which requires version 1 of cgroups and root privileges.
     */
    private static boolean allowsQuota() {
        return Files.isWritable(GROUPS.resolve("cgroup.procs"));
    }

    /**
     * Limits the shop application to a percentage of one processor, with periods of 100 ms. Has no effect if the kernel
     * does not permit quotas.
     */
    public void quota(int percent) throws IOException {
        if (!Files.exists(GROUP)) {
            return;
        }
        Files.writeString(GROUP.resolve("cpu.cfs_quota_us"), String.valueOf(percent * 1_000));
    }

    /** Sends a signal that stops or continues a process. */
    public void signal(long process, String signal) throws IOException {
        run("kill", "-" + signal, String.valueOf(process));
    }

    void heal() throws IOException {
        neighbours.forEach(process -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        });
        if (!neighbours.isEmpty() && pid > 0) {
            run("taskset", "-ap", "-c", "0-" + (Runtime.getRuntime().availableProcessors() - 1), String.valueOf(pid));
        }
        neighbours.clear();
        if (Files.exists(GROUP)) {
            Files.writeString(GROUP.resolve("cpu.cfs_quota_us"), "-1");
        }
    }

    /** Forgets the shop application's process. Called after the process has ended. */
    void forget() throws IOException {
        Files.deleteIfExists(GROUP);
    }

    private static void run(String... command) throws IOException {
        try {
            new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
