package tern.rpc.console;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Thrown when a request to the console is refused or cannot be converted to a call. The message contains the reason.
 */
final class WrongRequestException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String mark;

    WrongRequestException(String message) {
        this(400, message);
    }

    /** @param status the HTTP status of the response */
    WrongRequestException(int status, String message) {
        this(status, message, "");
    }

    /**
     * @param mark the name of a JSON member with the value {@code true} that is added to the response; empty to add no
     *     member
     */
    WrongRequestException(int status, String message, String mark) {
        super(message, null, false, false);
        this.status = status;
        this.mark = mark;
    }

    int status() {
        return status;
    }

    Map<String, Object> answer() {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("version", Json.VERSION);
        answer.put("error", getMessage());
        if (!mark.isEmpty()) {
            answer.put(mark, true);
        }
        return answer;
    }
}
