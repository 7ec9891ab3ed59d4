package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.peer.SmallCalls;
import tern.rpc.serialization.hessian.HessianSerializer;

/**
 * Checks that client and server together allocate little heap memory for a small call. The limit is about 1.5 times the
 * measured value.
 */
class BytesPerDubboCallTest {

    @Test
    void aSmallCallAllocatesLittle() {
        DubboProtocol dubbo = new DubboProtocol(HessianSerializer.builder().build(), 0);

        assertThat(SmallCalls.allocatedBytes(List.of(dubbo), dubbo)).isLessThan(3_000);
    }
}
