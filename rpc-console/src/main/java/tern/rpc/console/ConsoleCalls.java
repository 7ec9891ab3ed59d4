package tern.rpc.console;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.NamedTimes;
import tern.rpc.NanoClock;
import tern.rpc.Payload;
import tern.rpc.PeerText;
import tern.rpc.metrics.SlowCallRing.PhaseTime;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Makes the console's calls. Each call needs one of the {@link ConsoleTickets}. Thread-safe. */
final class ConsoleCalls {

    private final Json json;
    private final String instance;
    private final ConsoleAccess access;
    private final Supplier<@Nullable RpcServer> servers;
    private final Supplier<@Nullable JsonFormat> formats;
    private final NanoClock clock;
    private final ConsoleTickets tickets = new ConsoleTickets();
    private final RequestIds requestIds = new RequestIds();
    // This object's lock guards the fields {@code running} and {@code transport}.
    private final Map<String, ConsoleCall> running = new HashMap<>(); // the running calls by request id
    private @Nullable ConsoleTransport transport; // The transport is null until the console makes its first call.

    ConsoleCalls(
            Json json,
            String instance,
            ConsoleAccess access,
            Supplier<@Nullable RpcServer> servers,
            Supplier<@Nullable JsonFormat> formats,
            NanoClock clock) {
        this.json = json;
        this.instance = instance;
        this.access = access;
        this.servers = servers;
        this.formats = formats;
        this.clock = clock;
    }

    ConsoleTickets tickets() {
        return tickets;
    }

    /**
     * Makes the call permitted by a ticket, and blocks until the call has ended.
     *
     * @throws WrongRequestException if the ticket is invalid or the call cannot be made
     */
    Map<String, Object> call(@Nullable String ticketId) {
        ConsoleTickets.Ticket ticket = tickets.use(ticketId, false);
        try {
            return call(ticket);
        } finally {
            tickets.ended(ticketId, ticket);
        }
    }

    /**
     * Stops the call named in the request that the ticket was issued for. The request that made the call then returns
     * the answers that have arrived so far.
     *
     * @throws WrongRequestException if the ticket is invalid or the request names no call
     */
    Map<String, Object> stop(@Nullable String ticketId) {
        ConsoleTickets.Ticket ticket = tickets.use(ticketId, true);
        try {
            String id = CallRequest.readId(ticket.body(), json);
            ConsoleCall call = runningCall(id);
            if (call != null) {
                call.stop();
            }
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("version", Json.VERSION);
            answer.put("id", id);
            answer.put("stopped", call != null);
            return answer;
        } finally {
            tickets.ended(ticketId, ticket);
        }
    }

    private synchronized @Nullable ConsoleCall runningCall(String id) {
        return running.get(id);
    }

    private ConsoleOutcome.Result run(ConsoleTransport to, ConsoleCall call, @Nullable String id) {
        if (id == null) {
            return to.call(call);
        }
        synchronized (this) {
            running.put(id, call);
        }
        try {
            return to.call(call);
        } finally {
            synchronized (this) {
                running.remove(id);
            }
        }
    }

    private Map<String, Object> call(ConsoleTickets.Ticket ticket) {
        String whyNot = access.whyNot();
        RpcServer server = servers.get();
        JsonFormat format = formats.get();
        if (!whyNot.isEmpty() || server == null || format == null) {
            throw new WrongRequestException(403, whyNot);
        }
        CallRequest request = CallRequest.read(ticket.body(), json);
        if (request.instance() != null && !request.instance().equals(instance)) {
            throw new WrongRequestException(409, "the application was restarted; load the page again", "restarted");
        }
        ServiceExport export = export(server, request);
        MethodDescriptor method = method(export, request);
        JsonMethod codec = codec(format, method);
        List<byte[]> messages = messages(request, method);
        Metadata headers = request.headers();
        String trace = trace(headers);
        if (request.id() != null && requestIds.isRepeated(request.id())) {
            throw new WrongRequestException(409, "this request has already run; it was not run again", "repeated");
        }
        ConsoleTransport to = transport(server);
        ConsoleCall call = new ConsoleCall(
                export.key(),
                method,
                codec,
                messages,
                headers,
                request.timeout(),
                request.maxMessages(),
                to.share(),
                ticket.caller(),
                clock);
        ConsoleOutcome.Result result = run(to, call, request.id());
        return answer(result, request.id() == null ? RandomHex.of(8) : request.id(), trace);
    }

    private static ServiceExport export(RpcServer server, CallRequest request) {
        return server.exports().stream()
                .filter(export -> export.key().toString().equals(request.service()))
                .findFirst()
                .orElseThrow(() -> new WrongRequestException("service " + PeerText.name(request.service())
                        + " is not exported here; exported services: "
                        + server.exports().stream()
                                .map(export -> export.key().toString())
                                .sorted()
                                .limit(20)
                                .collect(Collectors.joining(", "))));
    }

    private static MethodDescriptor method(ServiceExport export, CallRequest request) {
        List<MethodDescriptor> named = export.service().overloads(request.method());
        if (named.isEmpty()) {
            throw new WrongRequestException(
                    export.key() + " has no method " + PeerText.name(request.method()) + "; take one from the list");
        }
        if (request.descriptor() == null && named.size() == 1) {
            return named.get(0);
        }
        MethodDescriptor found =
                request.descriptor() == null ? null : export.service().method(request.method(), request.descriptor());
        if (found == null) {
            throw new WrongRequestException(export.key() + "/" + request.method() + " has the descriptors "
                    + named.stream().map(MethodDescriptor::descriptor).collect(Collectors.joining(", "))
                    + "; send one of these as the descriptor");
        }
        return found;
    }

    private static JsonMethod codec(JsonFormat format, MethodDescriptor method) {
        if (method.payload() == Payload.RAW) {
            throw new WrongRequestException(ServiceCatalog.RAW);
        }
        try {
            return format.method(method);
        } catch (RuntimeException e) {
            throw new WrongRequestException(method + " cannot be called with JSON: " + e.getMessage());
        }
    }

    private List<byte[]> messages(CallRequest request, MethodDescriptor method) {
        List<byte[]> messages = new ArrayList<>();
        if (method.type().clientStreams()) {
            for (String text : request.messages()) {
                messages.add(CallRequest.messageOf(text, messages.size(), json));
            }
            return messages;
        }
        if (request.messages().size() > 1) {
            throw new WrongRequestException(method + " takes one message, not "
                    + request.messages().size() + "; send all arguments as one list");
        }
        if (!request.messages().isEmpty()) {
            messages.add(CallRequest.argumentsOf(
                    request.messages().get(0), method.parameters().size(), json));
        } else if (!method.parameters().isEmpty()) {
            throw new WrongRequestException(method + " takes "
                    + method.parameters().size() + " arguments, but messages is empty; send the arguments as one list");
        }
        return messages;
    }

    /**
     * Returns the trace id in the {@code traceparent} header. Returns an empty string if the caller sent an invalid
     * value or B3 headers. If the caller sent no trace headers, adds a new {@code traceparent} header.
     */
    private String trace(Metadata headers) {
        String given = headers.get("traceparent");
        if (given != null) {
            String[] parts = given.split("-", 4);
            return parts.length == 4 ? parts[1] : "";
        }
        if (headers.contains("b3") || headers.contains("X-B3-TraceId")) {
            return "";
        }
        String trace = RandomHex.of(16);
        headers.put("traceparent", "00-" + trace + "-" + RandomHex.of(8) + "-01");
        return trace;
    }

    private synchronized ConsoleTransport transport(RpcServer server) {
        ConsoleTransport known = transport;
        if (known != null) {
            return known;
        }
        ConsoleTransport made = new ConsoleTransport();
        try {
            server.serve(made);
        } catch (IllegalStateException e) {
            throw new WrongRequestException(503, e.getMessage() + "; it accepts no more calls");
        }
        transport = made;
        return made;
    }

    private static Map<String, Object> answer(ConsoleOutcome.Result result, String id, String trace) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("version", Json.VERSION);
        answer.put("id", id);
        answer.put("code", result.code());
        answer.put("executed", result.executed().name());
        answer.put("message", PeerText.text(result.message()));
        answer.put("exception", result.exception());
        answer.put("headers", result.headers());
        answer.put("trailers", result.trailers());
        answer.put("answers", result.answers());
        answer.put("cut", result.cut());
        answer.put("sizeBytes", result.sizeBytes());
        answer.put("tookMillis", millis(result.tookNanos()));
        answer.put("phases", phases(result.phases()));
        answer.put("operations", operations(result.operations()));
        answer.put("trace", trace);
        return answer;
    }

    static List<Map<String, Object>> phases(List<PhaseTime> phases) {
        List<Map<String, Object>> json = new ArrayList<>();
        for (PhaseTime time : phases) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("phase", time.phase().key());
            one.put("millis", millis(time.nanos()));
            one.put("count", time.count());
            json.add(one);
        }
        return json;
    }

    static List<Map<String, Object>> operations(List<NamedTimes.Entry> operations) {
        List<Map<String, Object>> json = new ArrayList<>();
        for (NamedTimes.Entry operation : operations) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("phase", operation.kind().key());
            one.put("name", PeerText.name(operation.name()));
            one.put("millis", millis(operation.nanos()));
            one.put("count", operation.count());
            json.add(one);
        }
        return json;
    }

    /** Converts nanoseconds to milliseconds with three decimals. */
    static double millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMicros(nanos) / 1_000.0;
    }
}
