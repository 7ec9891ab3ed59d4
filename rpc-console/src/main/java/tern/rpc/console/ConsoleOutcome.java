package tern.rpc.console;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.NamedTimes;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.metrics.SlowCallRing.PhaseTime;

/** The status, metadata and measured times of a console call. The call's lock guards this object. */
final class ConsoleOutcome {

    private String code = StatusCode.OK.name();
    private Executed executed = Executed.YES;
    private String message = "";
    private @Nullable String exception;
    private @Nullable Metadata headers;
    private Metadata trailers = new Metadata();
    private long tookNanos = -1;
    private List<PhaseTime> phases = List.of();
    private List<NamedTimes.Entry> operations = List.of();

    /** The result of a call, including its answers, metadata and phases. */
    record Result(
            String code,
            Executed executed,
            String message,
            @Nullable String exception,
            Map<String, String> headers,
            Map<String, String> trailers,
            List<String> answers,
            String cut,
            long sizeBytes,
            long tookNanos,
            List<PhaseTime> phases,
            List<NamedTimes.Entry> operations) {}

    /** Stores the headers of the answer. Later calls to this method have no effect. */
    void sentHeaders(Metadata sent) {
        if (headers == null) {
            headers = sent.copy();
        }
    }

    void ended(String endCode, Executed wasExecuted, String text, @Nullable String exceptionClass, Metadata metadata) {
        code = endCode;
        executed = wasExecuted;
        message = text;
        exception = exceptionClass;
        trailers = metadata.copy();
    }

    void measured(long elapsedNanos, List<PhaseTime> times, List<NamedTimes.Entry> named) {
        tookNanos = elapsedNanos;
        phases = times;
        operations = named;
    }

    /** @param sinceReceived the time since the call began, which is shown if the server has not measured the call */
    Result result(ConsoleAnswers answers, long sinceReceived) {
        return new Result(
                code,
                executed,
                message,
                exception,
                headers == null ? Map.of() : texts(headers),
                texts(trailers),
                answers.texts(),
                answers.whyCut(),
                answers.bytes(),
                tookNanos < 0 ? sinceReceived : tookNanos,
                phases,
                operations);
    }

    private static Map<String, String> texts(Metadata metadata) {
        Map<String, String> texts = new LinkedHashMap<>();
        metadata.forEach((name, value) -> texts.merge(
                name,
                value instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : value.toString(),
                (one, other) -> one + ", " + other));
        return texts;
    }
}
