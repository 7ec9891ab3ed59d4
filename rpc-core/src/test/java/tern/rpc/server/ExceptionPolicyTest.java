package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.settings.RpcStartException;

/** Tests the log lines of a server about exceptions that are sent without their type. */
class ExceptionPolicyTest {

    public interface Orders {
        String find(String id);
    }

    private static final MethodDescriptor FIND =
            ServiceDescriptor.of(Orders.class).methods().get(0);

    @Test
    void remedyNamesTheMethodAndThePackage() {
        assertThat(ExceptionPolicy.remedy(FIND, new RpcStartException("", "", null), true))
                .isEqualTo(". To send it with its type, declare it with throws in "
                        + FIND.service().simpleName()
                        + ".find, or move its class to the package tern.rpc.server or below");
    }

    @Test
    void remedyForAnExceptionOfAFrameworkDoesNotAskToMoveItsClass() {
        assertThat(ExceptionPolicy.remedy(FIND, new IllegalStateException(), true))
                .isEqualTo(". To tell callers more, throw an RpcException with a code instead, such as new"
                        + " RpcException(StatusCode.NOT_FOUND, text), or declare it with throws in "
                        + FIND.service().simpleName() + ".find if callers have its class");
    }

    @Test
    void remedyForAnswersWithoutTypesNamesHowToSendAText() {
        assertThat(ExceptionPolicy.remedy(FIND, new IllegalStateException(), false))
                .isEqualTo(". To send a text, throw an RpcException such as new"
                        + " RpcException(StatusCode.INVALID_ARGUMENT, text), or declare the exception");
    }

    @Test
    void errorHasNoRemedyBecauseItIsNeverSent() {
        assertThat(ExceptionPolicy.remedy(FIND, new StackOverflowError(), true)).isEmpty();
    }
}
