package tern.rpc.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.context.ApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sends HTTP requests over a plain socket, because HTTP clients do not allow some headers that the tests need. */
record Http(int port) {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    static Http of(ApplicationContext there) {
        return new Http(Integer.parseInt(there.getEnvironment().getProperty("local.server.port")));
    }

    static Http ofManagement(ApplicationContext there) {
        return new Http(Integer.parseInt(there.getEnvironment().getProperty("local.management.port")));
    }

    record Answer(int status, List<String> headers, byte[] bytes) {

        String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        JsonNode json() {
            return JSON.readTree(bytes);
        }

        List<String> all(String name) {
            return headers.stream()
                    .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .toList();
        }

        String header(String name) {
            List<String> values = all(name);
            return values.isEmpty() ? null : String.join(" | ", values);
        }
    }

    String origin() {
        return "http://localhost:" + port;
    }

    Answer get(String path, String... headers) {
        return send("GET", path, "", headers);
    }

    /** Sends a POST request with the headers that the console's page sends. */
    Answer call(String path, String body, String... headers) {
        List<String> all = new ArrayList<>(List.of(
                "X-Rpc-Console: 1",
                "Content-Type: application/json",
                "Origin: " + origin(),
                "Sec-Fetch-Site: same-origin"));
        all.addAll(List.of(headers));
        return send("POST", path, body, all.toArray(String[]::new));
    }

    /** Sends a request. Adds a {@code Host} header if the given headers do not contain one. */
    Answer send(String method, String path, String body, String... headers) {
        StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.0\r\n");
        if (Arrays.stream(headers).noneMatch(line -> line.startsWith("Host:"))) {
            head.append("Host: localhost:").append(port).append("\r\n");
        }
        for (String line : headers) {
            head.append(line).append("\r\n");
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 0 || method.equals("POST")) {
            head.append("Content-Length: ").append(bytes.length).append("\r\n");
        }
        head.append("\r\n");
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout(60_000);
            OutputStream out = socket.getOutputStream();
            ByteArrayOutputStream request = new ByteArrayOutputStream();
            request.write(head.toString().getBytes(StandardCharsets.UTF_8));
            request.write(bytes);
            out.write(request.toByteArray());
            out.flush();
            return parsed(socket.getInputStream().readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException(method + " " + path, e);
        }
    }

    private static Answer parsed(byte[] all) {
        String text = new String(all, StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        List<String> lines = List.of(text.substring(0, end).split("\r\n"));
        return new Answer(
                Integer.parseInt(lines.get(0).split(" ")[1]),
                lines.subList(1, lines.size()),
                Arrays.copyOfRange(all, end + 4, all.length));
    }
}
