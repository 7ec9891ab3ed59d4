package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import tern.rpc.Status;

/**
 * An error as JSON, with {@code code} for Connect clients and {@code status} for Dubbo clients (docs/wire-protocol.md
 * 4.5 and 7.1). Does not use Jackson, so that a missing Jackson library can be reported too.
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
