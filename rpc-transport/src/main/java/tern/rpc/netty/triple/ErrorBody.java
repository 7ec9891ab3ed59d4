package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import tern.rpc.Status;

/**
 * An error as JSON, for those who look at {@code code} as Connect has it and those who look at {@code status} as Dubbo
 * has it (docs/wire-protocol.md 4.5 and 7.1). Made by hand, so that it can be told that Jackson is missing.
 */
final class ErrorBody {

    private ErrorBody() {}

    static byte[] of(Status status, int httpStatus) {
        StringBuilder json = new StringBuilder(64 + status.description().length());
        json.append("{\"code\":\"")
                .append(StatusTable.connectName(status.code()))
                .append("\",\"message\":");
        JsonText.append(status.description(), json);
        json.append(",\"status\":\"").append(httpStatus).append('"');
        ConnectError.appendDetails(status, json);
        return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }
}
