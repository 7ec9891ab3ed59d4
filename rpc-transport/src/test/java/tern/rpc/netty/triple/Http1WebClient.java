package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.netty.peer.RawSocket;

/** A hand-written HTTP/1.1 client that sends one request at a time, as most clients do. */
final class Http1WebClient implements WebClient {

    private final RawSocket socket;

    Http1WebClient(int port) {
        this.socket = RawSocket.connect(port);
    }

    @Override
    public WebAnswer send(WebRequest request) {
        byte[] body = request.body();
        boolean sized = body.length > 0 || request.method().equals("POST");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(head(sized ? request.with("content-length", String.valueOf(body.length)) : request));
        bytes.writeBytes(body);
        socket.send(bytes.toByteArray());
        return answer();
    }

    @Override
    public WebStream begin(WebRequest request) {
        socket.send(head(request.with("transfer-encoding", "chunked")));
        return new Stream();
    }

    private static byte[] head(WebRequest request) {
        StringBuilder head =
                new StringBuilder(request.method() + ' ' + request.path() + " HTTP/1.1\r\nhost: localhost\r\n");
        request.headers()
                .forEach(header -> head.append(header.getKey())
                        .append(": ")
                        .append(header.getValue())
                        .append("\r\n"));
        return head.append("\r\n").toString().getBytes(ISO_8859_1);
    }

    private WebAnswer answer() {
        Http1Wire.Answer answer = Http1Wire.read(socket);
        Map<String, List<String>> headers = new TreeMap<>();
        answer.head().forEach((name, value) -> headers.put(name, List.of(value)));
        return new WebAnswer(answer.status(), headers, answer.body(), Map.of());
    }

    @Override
    public void close() {
        socket.close();
    }

    private final class Stream implements WebStream {

        @Override
        public void send(byte[] piece) {
            ByteArrayOutputStream chunk = new ByteArrayOutputStream();
            chunk.writeBytes((Integer.toHexString(piece.length) + "\r\n").getBytes(ISO_8859_1));
            chunk.writeBytes(piece);
            chunk.writeBytes("\r\n".getBytes(ISO_8859_1));
            socket.send(chunk.toByteArray());
        }

        @Override
        public void end() {
            socket.send("0\r\n\r\n".getBytes(ISO_8859_1));
        }

        @Override
        public void cancel() {
            close();
        }

        @Override
        public byte[] awaitBody(int bytes) {
            throw new UnsupportedOperationException("answers are read when they are whole");
        }

        @Override
        public WebAnswer answer() {
            return Http1WebClient.this.answer();
        }
    }
}
