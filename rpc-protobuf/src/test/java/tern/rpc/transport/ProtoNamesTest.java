package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.endpoint.Endpoint;

/** Tests the error message for a call with protobuf messages whose method does not exist on the gRPC server. */
class ProtoNamesTest {

    private static final String MISSING = "Method not found: x";

    interface Greeter {
        StringValue sayHello(StringValue request);
    }

    @WireName("helloworld.Greeter")
    interface HalfNamed {
        StringValue sayHello(StringValue request);
    }

    @WireName("helloworld.Greeter")
    interface Named {
        @WireName("SayHello")
        StringValue sayHello(StringValue request);
    }

    interface Plain {
        String sayHello(String request);
    }

    private static RpcException answer(Class<?> service, StatusCode code, String text) {
        ServiceDescriptor descriptor = ServiceDescriptor.of(service);
        Invocation call = new Invocation(
                new ServiceKey(descriptor.name(), "", ""),
                descriptor.methods().get(0),
                new Object[] {StringValue.of("Ada")},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        return RemoteFailures.answered(
                call,
                new Endpoint("10.0.0.7", 9_090),
                new RpcException(new Status(code, text), Executed.MAYBE, new Metadata()));
    }

    /**
     * The tested texts are the messages for an unknown method from servers with grpc-java, gRPC for C++, Go, .NET,
     * Node.js and Python.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Method not found: tern.rpc.Greeter/sayHello",
                "",
                "unknown service tern.rpc.Greeter",
                "Service is unimplemented.",
                "The server does not implement the method /tern.rpc.Greeter/sayHello",
                "Method not found!",
            })
    void theMessageNamesThePathAndTheAnnotation(String text) {
        RpcException failure = answer(Greeter.class, StatusCode.UNIMPLEMENTED, text);

        assertThat(failure)
                .hasMessageStartingWith("UNIMPLEMENTED: Greeter/sayHello at 10.0.0.7:9090, sent as "
                        + Greeter.class.getName()
                        + "/sayHello (if the .proto file has other names, set them with @WireName)")
                .hasMessageEndingWith(text);
        assertThat(failure.status().description()).isEqualTo(text);
    }

    @Test
    void theNameOfTheMethodMayBeTheCauseToo() {
        assertThat(answer(HalfNamed.class, StatusCode.UNIMPLEMENTED, MISSING))
                .hasMessageContaining("sent as helloworld.Greeter/sayHello (if the .proto file");
    }

    @Test
    void namesAreNoCauseOfOtherFailures() {
        assertThat(answer(Named.class, StatusCode.UNIMPLEMENTED, MISSING)).hasMessageNotContaining("@WireName");
        assertThat(answer(Plain.class, StatusCode.UNIMPLEMENTED, MISSING)).hasMessageNotContaining("@WireName");
        assertThat(answer(Greeter.class, StatusCode.UNAVAILABLE, "")).hasMessageNotContaining("@WireName");
        assertThat(answer(Greeter.class, StatusCode.UNIMPLEMENTED, "service a.B is not exported here"))
                .hasMessageNotContaining("@WireName");
    }
}
