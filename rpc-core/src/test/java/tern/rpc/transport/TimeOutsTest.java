package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Endpoint;

class TimeOutsTest {

    private static final Endpoint THERE = new Endpoint("10.0.0.7", 20_880);
    private static final MethodDescriptor METHOD =
            ServiceDescriptor.of(ContractService.class).overloads("echo").get(0);
    private static final TimeLimit LIMIT = new TimeLimit(Duration.ofMillis(500), "rpc.client.timeout");

    private static Invocation call(Deadline deadline) {
        return new Invocation(
                new ServiceKey("x", "", ""), METHOD, new Object[0], new Metadata(), deadline, Runnable::run);
    }

    @Test
    void messageHasTheLimitOfTheCallerInsteadOfTheOneOfTheServer() {
        Invocation call = call(Deadline.of(0, LIMIT));

        assertThat(TimeOuts.answered(call, THERE, TimeOuts.stillRunning(METHOD.fullName(), 497)))
                .isEqualTo("ContractService/echo at 10.0.0.7:20880: still running after 500 ms (rpc.client.timeout)");
    }

    @Test
    void otherReasonsOfTheServerStayAndTheLimitIsAdded() {
        Invocation call = call(Deadline.of(0, LIMIT));

        assertThat(TimeOuts.answered(call, THERE, "Inner/x: no answer from 10.0.0.8:1 within 20 ms (y)"))
                .isEqualTo(
                        "ContractService/echo at 10.0.0.7:20880: Inner/x: no answer from 10.0.0.8:1 within 20 ms (y);"
                                + " the call had 500 ms (rpc.client.timeout)");
    }

    @Test
    void deadlineOfTheServedCallIsNamedInTheMessage() {
        Deadline inherited = Deadline.of(0, LIMIT).handedOnBy(METHOD);
        PendingCall pending = new PendingCall(call(inherited), false, 200_000_000, null);

        RpcException late = TimeOuts.late(pending, THERE, false, true, Executed.NO);

        assertThat(late.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(late.status().description())
                .isEqualTo("ContractService/echo: no answer from 10.0.0.7:20880 within 300 ms"
                        + " (the remaining time of ContractService/echo, the served call)");
        assertThat(TimeOuts.late(pending, THERE, false, false, Executed.NO).getMessage())
                .startsWith(late.getMessage() + "; the server accepted the connection, but has sent nothing on it yet");
        assertThat(TimeOuts.late(pending, THERE, true, false, Executed.NO).getMessage())
                .contains("no connection to 10.0.0.7:20880")
                .doesNotContain("accepted");
    }

    @Test
    void streamThatStillRunsIsNotCalledUnanswered() {
        MethodDescriptor stream =
                ServiceDescriptor.of(StreamsService.class).overloads("count").get(0);
        Invocation call = new Invocation(
                new ServiceKey("x", "", ""),
                stream,
                new Object[0],
                new Metadata(),
                Deadline.of(0, LIMIT),
                Runnable::run);

        RpcException late = TimeOuts.late(new PendingCall(call, false, 0, null), THERE, false, true, Executed.MAYBE);

        assertThat(late.status().description())
                .isEqualTo("StreamsService/count: no end of the stream from 10.0.0.7:20880 within 500 ms"
                        + " (rpc.client.timeout)");
    }

    interface StreamsService {
        Flow.Publisher<Integer> count(int most);
    }

    @Test
    void otherCodesAreLeftAlone() {
        RpcException failure = new RpcException(StatusCode.NOT_FOUND, "no such item");

        assertThat(TimeOuts.answered(call(Deadline.of(0, LIMIT)), THERE, failure))
                .isSameAs(failure);
    }
}
