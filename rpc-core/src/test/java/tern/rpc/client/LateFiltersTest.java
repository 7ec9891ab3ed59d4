package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.transport.ContractService;

/** Tests calls that a filter delays until their deadline. */
class LateFiltersTest {

    private final ManualTimer timer = new ManualTimer();
    private long now;
    private final NanoClock clock = () -> now;
    private final List<RpcException> failures = new ArrayList<>();

    @AfterEach
    void close() {
        timer.shutdownNow();
    }

    private LateFilters filters(boolean passedOn, boolean mayBePassedOn) {
        Invocation call = new Invocation(
                new ServiceKey("x", "", ""),
                ServiceDescriptor.of(ContractService.class).overloads("echo").get(0),
                new Object[0],
                new Metadata(),
                Deadline.at(1_000),
                Runnable::run);
        return new LateFilters(
                new ProviderWait(null, clock, timer, null), // calls in this test do not wait for providers
                clock,
                call,
                0,
                () -> passedOn,
                () -> mayBePassedOn,
                () -> false,
                failures::add);
    }

    @Test
    void heldCallEndsAtItsDeadlineIfItIsNotKnownToBePassedOn() {
        filters(false, true).watch();
        now = 1_000;
        timer.runAll();

        assertThat(failures)
                .singleElement()
                .satisfies(late -> assertThat(late.wasExecuted()).isEqualTo(Executed.MAYBE));
    }

    @Test
    void callThatIsPassedOnHasMoreTimeForItsOwnFailure() {
        filters(true, true).watch();
        now = 1_000;
        timer.runAll();

        assertThat(failures).isEmpty();
    }
}
