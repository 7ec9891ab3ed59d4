package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

/**
 * Tests that a call whose answer is too large fails with the same code over {@code dubbo} as over the other protocols.
 */
class TooLargeAnswersTest {

    interface Greetings {
        String greet(String name);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "the answer exceeds the limit of the server: message longer than 8 bytes | RESOURCE_EXHAUSTED",
                "Data length too large: 30000010, max payload: 8388608, channel: x        | RESOURCE_EXHAUSTED",
                "Failed to send response: class X is not serializable                     | INTERNAL",
            })
    void textOfTheStatusSelectsTheCode(String text, StatusCode code) {
        ServiceDescriptor greetings = ServiceDescriptor.of(Greetings.class);
        Invocation call = new Invocation(
                new ServiceKey(greetings.name(), "", ""),
                greetings.overloads("greet").get(0),
                new Object[] {"a"},
                new Metadata(),
                Deadline.none(),
                Runnable::run);

        RpcException failure =
                DubboStatus.toException(DubboStatus.SERIALIZATION_ERROR, text, call, new Endpoint("127.0.0.1", 1));

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }
}
