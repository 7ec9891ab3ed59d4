package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.RemoteFailures.Missing;

class RemoteFailuresTest {

    private static final Endpoint THERE = new Endpoint("10.0.0.7", 20_880);
    private static final MethodDescriptor METHOD =
            ServiceDescriptor.of(ContractService.class).overloads("echo").get(0);
    private static final String WHERE = "ContractService/echo at 10.0.0.7:20880";

    private static Invocation call() {
        return new Invocation(
                new ServiceKey("x", "", ""), METHOD, new Object[0], new Metadata(), Deadline.none(), Runnable::run);
    }

    private static RpcException answered(StatusCode code, String description) {
        return RemoteFailures.answered(
                call(), THERE, new RpcException(new Status(code, description), Executed.NO, new Metadata()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SERVICE | UNIMPLEMENTED | NO | service a.B is not exported here; exported services: none",
                "SERVICE | UNIMPLEMENTED | NO | service a.B:2.0 is not exported here; exported services: a.B",
                "SERVICE | UNIMPLEMENTED | MAYBE | unknown service a.B",
                "SERVICE | UNIMPLEMENTED | MAYBE | HTTP status 404; does the address belong to an RPC server?",
                "SERVICE | UNKNOWN | MAYBE | HTTP status 405; does the address belong to an RPC server?",
                "SERVICE_OR_METHOD | UNIMPLEMENTED | MAYBE | Method not found: a.B/c",
                "SERVICE_OR_METHOD | UNIMPLEMENTED | MAYBE | ''",
                "SERVICE_OR_METHOD | INVALID_ARGUMENT | NO | Fail to decode request due to: Service not found:a.B, c",
                "SERVICE_OR_METHOD | INVALID_ARGUMENT | NO | Fail to decode request due to: RpcInvocation"
                        + " [methodName=c, parameterTypes=null]",
                "SERVICE | INVALID_ARGUMENT | NO | Service a.B:2.0 not found, invocation rejected.",
                "NOTHING | INVALID_ARGUMENT | MAYBE | Service not found: gold",
                "NOTHING | UNIMPLEMENTED | YES | service a.B is not exported here; exported services: none",
                "METHOD | UNIMPLEMENTED | NO | a.B has no method c",
                "METHOD | INVALID_ARGUMENT | NO | a.B has no method c(long); it has c(String)",
                "METHOD | INVALID_ARGUMENT | NO | B/c takes 1 argument, not 2",
                "NOTHING | INVALID_ARGUMENT | MAYBE | B/c takes 1 argument, not 2",
                "NOTHING | UNIMPLEMENTED | MAYBE | unknown method c for service a.B",
                "NOTHING | UNIMPLEMENTED | NO | generic calls are switched off on this server",
                "NOTHING | UNAVAILABLE | MAYBE | HTTP status 502; does the address belong to an RPC server?",
                "NOTHING | NOT_FOUND | NO | unknown service gold"
            })
    void messageSaysWhetherTheServiceIsMissing(
            Missing missing, StatusCode code, Executed executed, String description) {
        RpcException failure = new RpcException(new Status(code, description), executed, new Metadata());

        assertThat(RemoteFailures.missing(failure)).isEqualTo(missing);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OK", "DEADLINE_EXCEEDED"})
    void messageNamesCallAndAddressAndHasTheDescriptionOfTheServer(StatusCode code) {
        RpcException failure = answered(code, "downstream gone");

        assertThat(failure).hasMessage(code + ": " + WHERE + ": downstream gone");
        assertThat(failure.status()).isEqualTo(new Status(code, "downstream gone"));
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void aStatusWithoutDescriptionNamesCallAndAddressToo() {
        assertThat(answered(StatusCode.UNAVAILABLE, "")).hasMessage("UNAVAILABLE: " + WHERE);
    }

    @Test
    void aDescriptionThatNamesCallAndAddressIsNotChanged() {
        assertThat(answered(StatusCode.UNKNOWN, WHERE + ": anon")).hasMessage("UNKNOWN: " + WHERE + ": anon");
        assertThat(RemoteFailures.answered(call(), THERE, new Status(StatusCode.UNKNOWN, "anon"), Executed.YES))
                .hasMessage("UNKNOWN: " + WHERE + ": anon");
    }

    @Test
    void detailsAndMetadataStay() {
        StatusDetail detail = new StatusDetail("type.googleapis.com/x", new byte[] {1});
        Metadata trailers = new Metadata();
        trailers.put("reason", "full");

        RpcException failure = RemoteFailures.answered(
                call(),
                THERE,
                new RpcException(new Status(StatusCode.ABORTED, "no", List.of(detail)), Executed.YES, trailers));

        assertThat(failure.status().details()).containsExactly(detail);
        assertThat(failure.metadata().get("reason")).isEqualTo("full");
    }

    @Test
    void aRefusalOfABusyServerHasNoStackTrace() {
        assertThat(answered(StatusCode.RESOURCE_EXHAUSTED, "busy").getStackTrace())
                .isEmpty();
        assertThat(answered(StatusCode.UNKNOWN, "anon").getStackTrace()).isNotEmpty();
    }
}
