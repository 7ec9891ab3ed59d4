package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.evidence.Machine.Disk;
import tern.rpc.evidence.Machine.Memory;
import tern.rpc.evidence.Machine.Processors;
import tern.rpc.evidence.Machine.Quota;
import tern.rpc.evidence.Machine.Stalls;
import tern.rpc.evidence.Machine.Tcp;
import tern.rpc.evidence.MachineSecond;

/** Tests waits for memory and for disks, which no stack shows. */
class PressureTest {

    private static final long MB = 1_000_000;
    private static final long SECOND = 1_000_000_000L;
    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select stock", 3);
    private static final Consumer<Shop.Steps> SLOW_EVERYWHERE =
            call -> call.own(2).in(Phase.SQL, "select stock", 150).in(Phase.LOGGING, "file", 100);

    private final Shop shop = new Shop();
    private double memoryStall;
    private double diskStall;
    private long faults;
    private long swapped;
    private long limit = -1;
    private long limitHits;
    private long othersWrite;
    private long ownWrites;

    private static long stalledNanos(double share) {
        return share < 0 ? -1 : (long) (share * SECOND);
    }

    private tern.rpc.evidence.Machine counters(boolean end) {
        long one = end ? 1 : 0;
        return new tern.rpc.evidence.Machine(
                new Processors(0, 0, 0, 0, 0, 0, 0, 2, 2),
                new Quota(List.of()),
                new Stalls(
                        false, stalledNanos(memoryStall < 0 ? -1 : memoryStall * one), stalledNanos(diskStall * one)),
                new Memory(limit, limit < 0 ? -1 : limit * 99 / 100, limitHits * one, -1, faults * one, swapped * one),
                new Disk(0, ownWrites * one, 0, (ownWrites + othersWrite) * one),
                new Tcp(0, 0),
                List.of());
    }

    private Machine machine() {
        MachineSecond second = counters(true).since(counters(false), SECOND);
        return new Machine(2, 0.4, 0.1, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, second, List.of());
    }

    private Cause firstOf(Consumer<Shop.Steps> calls) {
        shop.machine = machine();
        return first(shop.miss(calls));
    }

    private void healthy() {
        shop.machine = machine();
        shop.healthy(USUAL);
    }

    @Test
    void swappingIsTheCauseIfEverythingIsSlower() {
        healthy();
        memoryStall = 0.6;
        faults = 800;
        swapped = 40 * MB;

        Cause first = firstOf(SLOW_EVERYWHERE);

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("SWAPPING");
        assertThat(first.change().where()).isEqualTo(Cause.Where.MACHINE);
        assertThat(first.evidence())
                .contains("memory   tasks waited for memory for 60 % of the time", "swap     40.0 MB/s read back")
                .anyMatch(line -> line.startsWith("faults   800 pages/s"));
    }

    @Test
    void swappingThatIsUsualIsNoCause() {
        memoryStall = 0.6;
        faults = 800;
        swapped = 40 * MB;
        healthy();

        assertThat(firstOf(SLOW_EVERYWHERE).kind()).isNotEqualTo("SWAPPING");
    }

    @Test
    void oneSlowStatementStaysTheCauseWhileMemoryIsShort() {
        healthy();
        memoryStall = 0.6;
        faults = 800;

        Cause first = firstOf(call -> call.own(2).in(Phase.SQL, "select stock", 400));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void memoryStallsOfOtherProcessesAreNoCause() {
        healthy();
        memoryStall = 0.6;

        assertThat(firstOf(SLOW_EVERYWHERE).kind()).doesNotContain("MEMORY").isNotEqualTo("SWAPPING");
    }

    @Test
    void memoryLimitOfTheContainerIsNamedWithItsFigures() {
        limit = 512L << 20;
        healthy();
        memoryStall = 0.4;
        limitHits = 70;

        Cause first = firstOf(SLOW_EVERYWHERE);

        assertThat(DiagnosisText.title(first)).isEqualTo("MEMORY LIMIT: limit of the container");
        assertThat(first.change().text()).startsWith("set a higher memory limit of the container than 512 MB");
        assertThat(first.evidence()).contains("limit    512 MB, 99 % in use");
    }

    @Test
    void manyPagesThatAreReadBackShowALackOfMemoryWithoutStallsOfTheKernel() {
        memoryStall = -1;
        healthy();
        faults = 900;

        assertThat(firstOf(SLOW_EVERYWHERE).kind()).isEqualTo("MEMORY PRESSURE");
    }

    @Test
    void diskThatOtherProcessesKeepBusyIsTheCauseOfSlowLogLines() {
        healthy();
        diskStall = 0.7;
        othersWrite = 120 * MB;
        ownWrites = MB;

        Cause first = firstOf(call -> call.own(2).in(Phase.LOGGING, "file", 200));

        assertThat(DiagnosisText.title(first)).isEqualTo("DISK: busy with other processes");
        assertThat(first.evidence())
                .contains("disk     tasks waited for a disk for 70 % of the time", "others   transfer 120.0 MB/s");
    }

    @Test
    void diskThatThisProcessKeepsBusyIsNotTheCause() {
        healthy();
        diskStall = 0.7;
        ownWrites = 80 * MB;

        assertThat(firstOf(call -> call.own(2).in(Phase.LOGGING, "file", 200)).kind())
                .isEqualTo("SLOW LOG");
    }
}
