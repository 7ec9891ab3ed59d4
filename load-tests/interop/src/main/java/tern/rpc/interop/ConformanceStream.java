package tern.rpc.interop;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import tern.rpc.interop.conformance.BidiStreamRequest;
import tern.rpc.interop.conformance.ConformancePayload;
import tern.rpc.interop.conformance.StreamResponseDefinition;

/**
 * The answers of a stream, as defined by the stream's first request. In a full-duplex stream, each request gets one
 * answer, and the remaining answers follow the last request. In any other stream, all answers follow the last request.
 */
final class ConformanceStream<R> implements Script<BidiStreamRequest, R> {

    private final ConformanceCall call;
    private final Function<ConformancePayload, R> response;
    private StreamResponseDefinition definition = StreamResponseDefinition.getDefaultInstance();
    private boolean bothWaysAtOnce;
    private boolean begun;
    private int answered;

    ConformanceStream(ConformanceCall call, Function<ConformancePayload, R> response) {
        this.call = call;
        this.response = response;
    }

    @Override
    public List<Answer<R>> to(BidiStreamRequest request) {
        call.received(request);
        if (!begun) {
            begun = true;
            bothWaysAtOnce = request.getFullDuplex();
            define(request.getResponseDefinition());
            if (bothWaysAtOnce) {
                sendHeaders();
            }
        }
        if (!bothWaysAtOnce) {
            return List.of();
        }
        if (answered == definition.getResponseDataCount()) {
            return List.of(end());
        }
        Answer<R> answer = next();
        call.forgetRequests();
        return List.of(answer);
    }

    @Override
    public List<Answer<R>> atEnd() {
        if (!bothWaysAtOnce) {
            sendHeaders();
        }
        bothWaysAtOnce = false; // The answers that follow the last request are not paired with requests.
        List<Answer<R>> answers = new ArrayList<>();
        while (answered < definition.getResponseDataCount()) {
            answers.add(next());
        }
        answers.add(end());
        return answers;
    }

    /** Sets the rules that define the answers. Must be called before all other methods. */
    void define(StreamResponseDefinition given) {
        definition = given;
        call.metadata(given.getResponseHeadersList(), given.getResponseTrailersList());
    }

    private void sendHeaders() {
        if (definition.getResponseDataCount() > 0) {
            call.sendHeaders();
        }
    }

    private Answer<R> next() {
        ByteString data = definition.getResponseData(answered);
        ConformancePayload payload;
        if (answered == 0) {
            payload = call.everything(data);
        } else {
            payload = bothWaysAtOnce ? call.requests(data) : ConformanceCall.only(data);
        }
        answered++;
        return Answer.of(response.apply(payload), Duration.ofMillis(definition.getResponseDelayMs()));
    }

    private Answer<R> end() {
        return definition.hasError() ? Answer.failed(call.failure(definition.getError(), answered == 0)) : Answer.end();
    }
}
