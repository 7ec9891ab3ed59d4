package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;

class MethodInvokerTest {

    interface Shop {
        String buy(String item);
    }

    private final MethodInvoker invoker = new MethodInvoker(
            arguments -> null, ServiceDescriptor.of(Shop.class).methods().get(0), false);

    @Test
    void failureOfAnotherServiceThatTheMethodPassesOnKeepsItsDetails() {
        Status status = new Status(
                StatusCode.ABORTED, "sold", List.of(new StatusDetail("type.googleapis.com/x.Sold", new byte[] {8, 1})));
        RpcException passedOn = new RpcException(status, Executed.MAYBE, new Metadata());

        assertThat(invoker.ran(passedOn)).isInstanceOfSatisfying(RpcException.class, told -> {
            assertThat(told.status()).isEqualTo(status);
            assertThat(told.wasExecuted()).isEqualTo(Executed.YES);
            assertThat(told).hasCause(passedOn);
        });
    }
}
