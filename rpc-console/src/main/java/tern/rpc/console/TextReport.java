package tern.rpc.console;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.metrics.RpcReportPart;

/** Writes the console's data as plain text for a support ticket. The text contains no arguments, results or secrets. */
final class TextReport {

    private static final int SLOW_CALLS = 20;

    private TextReport() {}

    static String of(String version, LiveData live, SettingList settings) {
        Map<String, Object> now = live.now(null);
        StringBuilder text = new StringBuilder();
        text.append("Tern RPC ")
                .append(version)
                .append(", Java ")
                .append(Runtime.version())
                .append('\n');
        for (String name : List.of(
                "application",
                "at",
                "startedAt",
                "targetMillis",
                "targetQps",
                "server",
                "inFlight",
                "lastMinute",
                "called",
                "refusals",
                "failures")) {
            text.append(name).append(": ").append(now.get(name)).append('\n');
        }
        for (String name : List.of("diagnosis", "cluster")) {
            RpcReportPart part = live.part(name);
            String body = part == null ? null : part.text();
            title(name, text).append(body == null ? "none\n" : body);
        }
        title("pools", text);
        lines(now.get("pools"), Integer.MAX_VALUE, text);
        title("slow calls", text);
        lines(live.slow().get("calls"), SLOW_CALLS, text);
        title("callers", text);
        lines(live.outgoing().get("callers"), Integer.MAX_VALUE, text);
        title("settings that are set", text);
        settings.set().forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    private static StringBuilder title(String name, StringBuilder text) {
        return text.append("\n--- ").append(name).append('\n');
    }

    private static void lines(@Nullable Object list, int max, StringBuilder text) {
        if (list instanceof List<?> all) {
            all.stream().limit(max).forEach(one -> text.append(one).append('\n'));
        }
    }
}
