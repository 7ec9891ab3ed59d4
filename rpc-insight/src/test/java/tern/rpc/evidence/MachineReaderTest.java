package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.evidence.Machine.Disk;
import tern.rpc.evidence.Machine.Quota.Level;
import tern.rpc.evidence.Machine.Stalls;

class MachineReaderTest {

    private static final String POD = "sys/fs/cgroup/kubepods.slice/pod1";

    @TempDir
    private Path root;

    /** The values that the JVM reports about its own process, as set by a test. */
    private static final class FixedProcess implements OwnProcess {
        private long cpuNanos = 4_000_000_000L;

        @Override
        public long cpuNanos() {
            return cpuNanos;
        }

        @Override
        public int availableProcessors() {
            return 2;
        }
    }

    private final FixedProcess own = new FixedProcess();

    private MachineReader reader(String resource) {
        return new MachineReader(RecordedTree.unpack(resource, root).root(), own);
    }

    @Test
    void processorTimeComesInNanoseconds() {
        Machine.Processors processors = reader("cgroup2-pod.txt").read().processors();

        assertThat(processors)
                .isEqualTo(new Machine.Processors(
                        4_000_000_000L,
                        10_000_000_000L,
                        0,
                        5_500_000_000L,
                        80_000_000_000L,
                        2_000_000_000L,
                        2_500_000_000L,
                        7,
                        2));
    }

    @Test
    void quotaOfAParentCountsToo() {
        Machine.Quota quota = reader("cgroup2-pod.txt").read().quota();

        assertThat(quota.processors()).isEqualTo(1.5);
        assertThat(quota.levels()).containsExactly(new Level(POD + "/app", 2, 100, 0), new Level(POD, 1.5, 100, 40));
    }

    @Test
    void containerThatSeesItsOwnGroupOnlyHasItsQuota() {
        RecordedTree.unpack("cgroup2-pod.txt", root)
                .write("proc/self/cgroup", "0::/\n")
                .write("sys/fs/cgroup/cpu.max", "50000 100000\n");

        assertThat(new MachineReader(root, own).read().quota().processors()).isEqualTo(0.5);
    }

    @Test
    void quotaIsFoundIfTheMountBeginsAtTheGroup() {
        RecordedTree.unpack("cgroup1.txt", root)
                .write("proc/self/cgroup", "1:cpu,cpuacct:/docker/1f\n")
                .write(
                        "proc/self/mountinfo",
                        "32 31 0:29 /docker/1f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n")
                .write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n")
                .write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
                .write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");

        assertThat(new MachineReader(root, own).read().quota().processors()).isEqualTo(3);
    }

    @Test
    void quotaOfVersionOneIsRead() {
        assertThat(reader("cgroup1.txt").read().quota().levels())
                .containsExactly(new Level("sys/fs/cgroup/cpu/loop", 0.2, 30, 29));
    }

    @Test
    void memoryIsOfTheGroupWithTheLowestLimit() {
        Machine.Memory memory = reader("cgroup1.txt").read().memory();

        assertThat(memory.limitBytes()).isEqualTo(1 << 30);
        assertThat(memory.usedBytes()).isEqualTo(1_000_000_000);
        assertThat(memory.limitHits()).isEqualTo(17);
        assertThat(memory.throttled()).isEqualTo(-1);
        assertThat(memory.majorFaults()).isEqualTo(1);
        assertThat(memory.swapInBytes()).isEqualTo(3 * 4096);
    }

    @Test
    void versionTwoCountsEventsOfMemory() {
        Machine.Memory memory = reader("cgroup2-pod.txt").read().memory();

        assertThat(memory).isEqualTo(new Machine.Memory(1 << 30, 1 << 29, 5, 7, 42, 0));
    }

    @Test
    void pressureIsOfTheGroupIfItHasAny() {
        assertThat(reader("cgroup2-pod.txt").read().stalls()).isEqualTo(new Stalls(true, 20_000, 2_000));
    }

    @Test
    void pressureIsOfTheMachineOtherwise() {
        Stalls stalls = reader("cgroup1.txt").read().stalls();

        assertThat(stalls.ofGroup()).isFalse();
        assertThat(stalls.ioNanos()).isPositive();
    }

    @Test
    void networkTablesAreReadByColumn() {
        Machine.Tcp tcp = reader("cgroup1.txt").read().tcp();

        assertThat(tcp.segmentsOut()).isGreaterThan(3_000_000);
        assertThat(tcp.retransmitted()).isBetween(3_500L, 10_000L);
    }

    @Test
    void bytesOfDevicesAreOfTheProcess() {
        assertThat(reader("cgroup1.txt").read().disk()).isEqualTo(new Disk(8192, 4096, -1, -1));
    }

    @Test
    void missingFilesAreNamedAndTheirFiguresAreMinusOne() {
        RecordedTree.unpack("cgroup1.txt", root).delete("proc/pressure/io").delete("proc/net/snmp");

        Machine machine = new MachineReader(root, own).read();

        assertThat(machine.missing())
                .containsExactlyInAnyOrder("proc/pressure/io: not there", "proc/net/snmp: not there");
        assertThat(machine.stalls().ioNanos()).isEqualTo(-1);
        assertThat(machine.stalls().memoryNanos()).isNotNegative();
        assertThat(machine.tcp().segmentsOut()).isEqualTo(-1);
    }

    @Test
    void onlyFiguresOfTheJvmAreKnownOnOtherSystems() {
        Machine machine = new MachineReader(root, own).read();

        assertThat(machine.processors())
                .isEqualTo(new Machine.Processors(4_000_000_000L, -1, -1, -1, -1, -1, -1, -1, 2));
        assertThat(machine.quota().processors()).isEqualTo(-1);
        assertThat(machine.memory()).isEqualTo(new Machine.Memory(-1, -1, -1, -1, -1, -1));
        assertThat(machine.missing()).contains("proc/stat: not there", "proc/self/status: not there");
    }

    @Test
    void garbageIsMissingRatherThanAnError() {
        RecordedTree tree = RecordedTree.unpack("cgroup2-pod.txt", root);
        for (String path : new String[] {"proc/stat", "proc/self/stat", POD + "/cpu.max", "proc/self/status"}) {
            tree.write(path, "cpu x 99999999999999999999 \n\n:)");
        }

        Machine machine = new MachineReader(root, own).read();

        assertThat(machine.processors().userNanos()).isEqualTo(-1);
        assertThat(machine.memory().majorFaults()).isEqualTo(-1);
    }

    @Test
    void thisMachineCanBeRead() {
        Machine machine = new MachineReader(Path.of("/")).read();

        assertThat(machine.processors().available()).isPositive();
        assertThat(machine.processors().ownNanos()).isPositive();
    }

    @Test
    void secondHasRatesAndShares() {
        RecordedTree tree = RecordedTree.unpack("cgroup2-pod.txt", root);
        MachineReader reader = new MachineReader(root, own);
        Machine before = reader.read();
        own.cpuNanos += 1_000_000_000;
        tree.replace("proc/stat", "cpu  1000 0 500 8000 200 0 50 250 0 0", "cpu  1150 0 550 8000 200 0 50 350 0 0")
                .replace("proc/self/stat", "0 42 0", "0 142 0")
                .replace(POD + "/cpu.stat", "nr_periods 100\nnr_throttled 40", "nr_periods 110\nnr_throttled 45")
                .replace(POD + "/app/memory.pressure", "total=20", "total=250020");

        MachineSecond second = reader.read().since(before, 1_000_000_000);

        assertThat(second.ownCpuProcessors()).isEqualTo(1);
        assertThat(second.otherCpuProcessors()).isEqualTo(1);
        assertThat(second.allowedProcessors()).isEqualTo(1.5);
        assertThat(second.stealShare()).isCloseTo(1 / 3.0, offset(0.001));
        assertThat(second.stealShareOfDemand()).isCloseTo(1 / 3.0, offset(0.001));
        assertThat(second.majorFaultsPerSecond()).isEqualTo(100);
        assertThat(second.throttledShare()).isEqualTo(0.5);
        assertThat(second.memoryStallShare()).isEqualTo(0.25);
        assertThat(second.memoryShare()).isEqualTo(0.5);
    }

    @Test
    void retransmitsAreAShareOfTheSegmentsSent() {
        RecordedTree tree = RecordedTree.unpack("cgroup1.txt", root);
        MachineReader reader = new MachineReader(root, own);
        Machine before = reader.read();
        Machine.Tcp tcp = before.tcp();
        tree.replace("proc/net/snmp", " " + tcp.segmentsOut() + " ", " " + (tcp.segmentsOut() + 1000) + " ")
                .replace("proc/net/snmp", " " + tcp.retransmitted() + " ", " " + (tcp.retransmitted() + 30) + " ");

        MachineSecond second = reader.read().since(before, 1_000_000_000);

        assertThat(second.retransmitShare()).isEqualTo(0.03);
    }

    @Test
    void resetCounterIsMissing() {
        RecordedTree tree = RecordedTree.unpack("cgroup2-pod.txt", root);
        MachineReader reader = new MachineReader(root, own);
        Machine before = reader.read();
        tree.replace("proc/self/io", "read_bytes: 1000", "read_bytes: 10");

        MachineSecond second = reader.read().since(before, 1_000_000_000);

        assertThat(second.readBytesPerSecond()).isEqualTo(-1);
        assertThat(second.writtenBytesPerSecond()).isZero();
    }

    @Test
    void throttledShareIsZeroWithoutAQuota() {
        RecordedTree.unpack("cgroup1.txt", root).write("proc/self/cgroup", "1:cpu:/\n");
        MachineReader reader = new MachineReader(root, own);

        assertThat(reader.read().since(reader.read(), 1).throttledShare()).isZero();
    }

    @Test
    void processThatMovesIntoAnotherGroupHasTheQuotaOfThisGroup() {
        RecordedTree tree = RecordedTree.unpack("cgroup2-pod.txt", root).write("proc/self/cgroup", "0::/\n");
        MachineReader reader = new MachineReader(root, own);
        Machine before = reader.read();
        assertThat(before.quota().processors()).isEqualTo(-1);

        tree.write("proc/self/cgroup", "0::/kubepods.slice/pod1/app\n");
        Machine moved = reader.read();
        tree.replace(POD + "/cpu.stat", "nr_periods 100\nnr_throttled 40", "nr_periods 110\nnr_throttled 49");
        Machine later = reader.read();

        assertThat(moved.quota().processors()).isEqualTo(1.5);
        assertThat(moved.since(before, 1_000_000_000).mostThrottling()).isEqualTo(new Level(POD, 1.5, 100, 40));
        assertThat(later.since(moved, 1_000_000_000).throttledShare()).isEqualTo(0.9);
        assertThat(later.since(moved, 1_000_000_000).mostThrottling()).isEqualTo(new Level(POD, 1.5, 10, 9));
    }

    @Test
    void processThatMovesIntoAnotherGroupOfVersionOneHasTheQuotaOfThisGroup() {
        RecordedTree tree = RecordedTree.unpack("cgroup1.txt", root);
        String groups = tree.read("proc/self/cgroup");
        tree.write("proc/self/cgroup", "1:cpu:/\n");
        MachineReader reader = new MachineReader(root, own);
        assertThat(reader.read().quota().processors()).isEqualTo(-1);

        tree.write("proc/self/cgroup", groups);

        assertThat(reader.read().quota().levels()).containsExactly(new Level("sys/fs/cgroup/cpu/loop", 0.2, 30, 29));
    }

    @Test
    void processWithoutAQuotaIsNotThrottled() {
        RecordedTree.unpack("cgroup1.txt", root).write("proc/self/cgroup", "1:cpu:/\n");
        MachineReader reader = new MachineReader(root, own);

        assertThat(reader.read().since(reader.read(), 1).mostThrottling()).isNull();
    }
}
