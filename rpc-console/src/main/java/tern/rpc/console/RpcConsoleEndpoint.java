package tern.rpc.console;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeType;

/**
 * Serves the console's page at {@code /actuator/rpc-console}, and its data as JSON under this path. The endpoint is
 * available only if the application's settings expose it. The endpoint makes calls only if
 * {@code management.endpoint.rpc-console.access} is {@code unrestricted}.
 */
@WebEndpoint(id = RpcConsoleEndpoint.ID, defaultAccess = Access.READ_ONLY)
public final class RpcConsoleEndpoint {

    /**
     * The endpoint's id. The id contains no dash, because Spring Boot logs a warning about an id with a dash. Property
     * names can still spell the id with a dash.
     */
    static final String ID = "rpcConsole";

    /** The default for the last element of the endpoint's path. */
    static final String PATH = "rpc-console";

    static final Access DEFAULT_ACCESS = Access.READ_ONLY;

    private static final String CALL = "call";

    /** The last path element of a request to stop a call. */
    static final String STOP = "stop";

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain;charset=UTF-8";

    private final Console console;

    RpcConsoleEndpoint(Console console) {
        this.console = console;
    }

    /** Returns the console's page; null if the file of the page is missing. */
    @ReadOperation(produces = {"text/html", JSON})
    public @Nullable WebEndpointResponse<byte[]> page() {
        ConsoleFiles.File page = console.page();
        return page == null ? null : answer(200, page.plain(), page.contentType());
    }

    /**
     * Returns a file of the page, or the data of a view. Returns null for an unknown name, which Spring Boot answers
     * with 404.
     *
     * @param since the {@code next} member of an earlier answer of {@code now}; the result then contains only later
     *     points; null for all points
     */
    @ReadOperation(produces = {JSON, "text/javascript", "text/css", "text/plain"})
    public @Nullable WebEndpointResponse<byte[]> read(@Selector String name, @Nullable String since) {
        if (name.equals(CALL) || name.equals(STOP)) {
            return failed(new WrongRequestException(405, name + " takes only a POST"));
        }
        ConsoleFiles.File file = console.files().file(name);
        if (file != null) {
            return answer(200, file.plain(), file.contentType());
        }
        if (name.equals("report")) {
            return answer(200, console.text().getBytes(StandardCharsets.UTF_8), TEXT);
        }
        Map<String, Object> data = console.data(name, since);
        return data == null ? null : answer(200, console.json().bytes(data), JSON);
    }

    /**
     * Makes the call permitted by a ticket, or stops a call.
     *
     * @param ticket the id of the ticket that the console's filter created after checking the request
     */
    @WriteOperation(produces = JSON)
    public WebEndpointResponse<byte[]> call(@Selector String name, @Nullable String ticket) {
        if (!name.equals(CALL) && !name.equals(STOP)) {
            return failed(new WrongRequestException(404, "only " + CALL + " and " + STOP + " accept POST requests"));
        }
        try {
            ConsoleCalls calls = console.calls();
            return answer(200, console.json().bytes(name.equals(CALL) ? calls.call(ticket) : calls.stop(ticket)), JSON);
        } catch (WrongRequestException e) {
            return failed(e);
        }
    }

    private WebEndpointResponse<byte[]> failed(WrongRequestException failure) {
        return answer(failure.status(), console.json().bytes(failure.answer()), JSON);
    }

    private static WebEndpointResponse<byte[]> answer(int status, byte[] body, String type) {
        return new WebEndpointResponse<>(body, status, MimeType.valueOf(type));
    }
}
