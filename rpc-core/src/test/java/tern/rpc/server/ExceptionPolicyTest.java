package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;

/** Tests what the log of a server says about an exception that loses its type. */
class ExceptionPolicyTest {

    public interface Orders {
        String find(String id);
    }

    private static final MethodDescriptor FIND =
            ServiceDescriptor.of(Orders.class).methods().get(0);

    @Test
    void remedyNamesTheMethodAndThePackage() {
        assertThat(ExceptionPolicy.remedy(FIND, new IllegalStateException()))
                .isEqualTo(". To send it with its type, declare it with throws in "
                        + FIND.service().simpleName()
                        + ".find, or move its class to the package tern.rpc.server or below");
    }

    @Test
    void errorHasNoRemedyBecauseItIsNeverSent() {
        assertThat(ExceptionPolicy.remedy(FIND, new StackOverflowError())).isEmpty();
    }
}
