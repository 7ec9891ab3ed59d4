package tern.rpc.interop;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.interop.conformance.ConformancePayload;
import tern.rpc.interop.conformance.ConformancePayload.RequestInfo;
import tern.rpc.interop.conformance.Error;
import tern.rpc.interop.conformance.Header;

/**
 * The data of a call that the server must return to the conformance suite: headers, timeout and requests. The server
 * sends this data in payloads or in error details.
 */
final class ConformanceCall {

    private final ServerContext context;
    private final @Nullable Long timeoutMillis;
    private final List<Any> requests = new ArrayList<>();

    /** Reads the context and the timeout of the current thread's call. */
    ConformanceCall() {
        context = Objects.requireNonNull(ServerContext.current(), "a call is being served");
        Deadline deadline = context.deadline();
        timeoutMillis = deadline.isLimited()
                ? (Long) TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos(System.nanoTime()))
                : null;
    }

    void received(Message request) {
        requests.add(Any.pack(request));
    }

    void forgetRequests() {
        requests.clear();
    }

    void metadata(List<Header> headers, List<Header> trailers) {
        ConformanceHeaders.add(headers, context.responseHeaders());
        ConformanceHeaders.add(trailers, context.responseMetadata());
    }

    void sendHeaders() {
        context.sendHeaders();
    }

    /** Returns the payload of the first answer: headers, timeout and requests. */
    ConformancePayload everything(ByteString data) {
        return ConformancePayload.newBuilder()
                .setData(data)
                .setRequestInfo(info())
                .build();
    }

    /**
     * Returns the payload of an answer after the first one in a full-duplex stream. The payload contains the requests
     * received since the previous answer.
     */
    ConformancePayload requests(ByteString data) {
        return ConformancePayload.newBuilder()
                .setData(data)
                .setRequestInfo(RequestInfo.newBuilder().addAllRequests(requests))
                .build();
    }

    /**
     * Returns the payload of an answer after the first one in a stream that is not full-duplex. This payload contains
     * only the answer's own data.
     */
    static ConformancePayload only(ByteString data) {
        return ConformancePayload.newBuilder().setData(data).build();
    }

    /**
     * Returns the call's failure.
     *
     * @param first whether the failure is the first answer; if true, the failure also contains headers, timeout and
     *     requests
     */
    RpcException failure(Error error, boolean first) {
        List<StatusDetail> details = new ArrayList<>();
        error.getDetailsList().forEach(detail -> details.add(detail(detail)));
        if (first) {
            details.add(detail(Any.pack(info())));
        }
        return new RpcException(new Status(StatusCode.values()[error.getCodeValue()], error.getMessage(), details));
    }

    private static StatusDetail detail(Any any) {
        return new StatusDetail(any.getTypeUrl(), any.getValue().toByteArray());
    }

    private RequestInfo info() {
        RequestInfo.Builder info = RequestInfo.newBuilder()
                .addAllRequestHeaders(ConformanceHeaders.of(context.metadata()))
                .addAllRequests(requests);
        if (timeoutMillis != null) {
            info.setTimeoutMs(timeoutMillis);
        }
        return info.build();
    }
}
