package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls that fail with an exception of the application before they run an operation. */
class SkippedOperationsTest {

    private static final String RIDES = "GET carrier:80/rides";
    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(1).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, RIDES, 12);

    private final Shop shop = new Shop().healthy(USUAL);

    private Cause failing(Throwable failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }
        return first(shop.diagnosis());
    }

    @Test
    void ownExceptionBeforeAnExchangeMayComeFromACircuitBreakerOfTheApplication() {
        Cause first = failing(Tickets.carrierOff(), call -> call.own(1).in(Phase.SQL, "select stock", 3));

        assertThat(first.title()).startsWith("FAILURE: CarrierOff in Tickets.carrierOff");
        assertThat(first.change().text())
                .startsWith("find out why code refuses calls before they run " + RIDES + ", which they usually run")
                .contains("if it is a circuit breaker, check whether the peer answers again");
    }

    @Test
    void failuresThatOpenedTheCircuitBreakerAreNamed() {
        failing(Tickets.soldOut(), call -> call.own(1).in(Phase.HTTP, RIDES + " (503)", 12));

        Cause first = failing(Tickets.carrierOff(), call -> call.own(1).in(Phase.SQL, "select stock", 3));

        assertThat(first.change().text()).endsWith("; in the last minutes, calls failed with " + RIDES + " (503)");
    }

    @Test
    void ownExceptionAfterAllUsualOperationsIsAFailureOfTheCode() {
        assertThat(failing(Tickets.carrierOff(), USUAL).change().text())
                .startsWith("fix the code that throws CarrierOff");
    }

    @Test
    void mistakeInTheCodeIsNoRefusal() {
        assertThat(failing(new NullPointerException(), call -> call.own(1))
                        .change()
                        .text())
                .startsWith("fix the code that throws NullPointerException");
    }
}
