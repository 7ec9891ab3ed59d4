package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.netty.peer.RawSocket;

/** Parses HTTP/1.1 answers without an HTTP library, because a library could hide errors. */
final class Http1Wire {

    private interface Source {
        byte[] read(int length) throws IOException;
    }

    /**
     * A parsed answer.
     *
     * @param head the headers by lower-case name; the values of a repeated header are joined with commas
     * @param body the body, without chunk framing
     * @param chunks the chunks if the body is chunked
     */
    record Answer(int status, Map<String, String> head, byte[] body, List<String> chunks) {

        String text() {
            return new String(body, UTF_8);
        }

        String header(String name) {
            return head.getOrDefault(name, "");
        }

        String mediaType() {
            return header("content-type").split(";", 2)[0];
        }
    }

    private final Source source;

    private Http1Wire(Source source) {
        this.source = source;
    }

    /** Reads the next answer on a connection. */
    static Answer read(RawSocket socket) {
        return new Http1Wire(socket::readFully).read(false);
    }

    /** Reads the next answer to a HEAD request. */
    static Answer readHead(RawSocket socket) {
        return new Http1Wire(socket::readFully).read(true);
    }

    /** Parses all captured answers of a connection. */
    static List<Answer> parse(byte[] captured, boolean headsOnly) {
        ByteArrayInputStream in = new ByteArrayInputStream(captured);
        Http1Wire wire = new Http1Wire(length -> {
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException();
            }
            return bytes;
        });
        List<Answer> answers = new ArrayList<>();
        while (in.available() > 0) {
            answers.add(wire.read(headsOnly));
        }
        return answers;
    }

    private Answer read(boolean headOnly) {
        try {
            String[] first = line().split(" ", 3);
            Map<String, String> head = new TreeMap<>();
            for (String line = line(); !line.isEmpty(); line = line()) {
                int colon = line.indexOf(':');
                String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
                head.merge(name, line.substring(colon + 1).trim(), (one, other) -> one + ", " + other);
            }
            List<String> chunks = new ArrayList<>();
            byte[] body = {};
            if (!headOnly) {
                body = "chunked".equals(head.get("transfer-encoding"))
                        ? chunked(chunks)
                        : source.read(Integer.parseInt(head.getOrDefault("content-length", "0")));
            }
            return new Answer(Integer.parseInt(first[1]), head, body, chunks);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] chunked(List<String> chunks) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int length = Integer.parseInt(line(), 16); length > 0; length = Integer.parseInt(line(), 16)) {
            byte[] chunk = source.read(length);
            body.writeBytes(chunk);
            chunks.add(new String(chunk, UTF_8));
            line();
        }
        line();
        return body.toByteArray();
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            byte one = source.read(1)[0];
            if (one == '\n') {
                String text = line.toString(ISO_8859_1);
                if (!text.endsWith("\r")) {
                    throw new IOException("a line ends without CR: " + text);
                }
                return text.substring(0, text.length() - 1);
            }
            line.write(one);
        }
    }
}
