package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tern.rpc.evidence.VirtualStacks;

class CarrierCodeTest {

    private final AtomicLong time = new AtomicLong(1_000);

    private static VirtualStacks.Stack stack(String... classes) {
        StackTraceElement[] frames = new StackTraceElement[classes.length];
        for (int i = 0; i < classes.length; i++) {
            frames[i] = new StackTraceElement(classes[i], "run", classes[i] + ".java", 9);
        }
        return new VirtualStacks.Stack(7, "", Thread.State.RUNNABLE, frames);
    }

    private CarrierCode of(VirtualStacks.Stack... stacks) {
        return new CarrierCode(() -> List.of(stacks), time::get);
    }

    @Test
    void codeOfAJobOnVirtualThreadsIsFound() {
        CarrierCode code = of(
                stack("depot.Forecast", "java.lang.VirtualThread"),
                stack("depot.Forecast", "java.lang.VirtualThread"),
                stack("depot.Orders", "org.apache.coyote.AbstractProcessorLight"));

        assertThat(code.most()).isEqualTo(new CarrierCode.Place("Forecast.run:9", false));
    }

    @Test
    void codeBelowAWebServerServesCalls() {
        assertThat(of(stack("depot.Orders", "org.apache.coyote.AbstractProcessorLight"))
                        .most())
                .isEqualTo(new CarrierCode.Place("Orders.run:9", true));
    }

    @Test
    void waitingThreadsOccupyNoCarrierThread() {
        assertThat(of(stack("java.lang.VirtualThread", "depot.Orders")).most()).isNull();
    }

    @Test
    void stacksAreReadAtMostOnceASecond() {
        AtomicLong readings = new AtomicLong();
        CarrierCode code = new CarrierCode(
                () -> {
                    readings.incrementAndGet();
                    return List.of();
                },
                time::get);

        code.most();
        code.most();
        assertThat(readings).hasValue(1);

        time.addAndGet(TimeUnit.SECONDS.toNanos(1));
        code.most();
        assertThat(readings).hasValue(2);
    }
}
