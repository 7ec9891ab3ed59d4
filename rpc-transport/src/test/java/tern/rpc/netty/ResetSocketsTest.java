package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import com.example.wire.StreamServer;
import com.example.wire.StreamService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.server.ServiceExport;

/**
 * Tests clients that send bytes and then reset the connection. The operating system still delivers the bytes, so the
 * server reads complete requests, but each of its writes fails and closes the socket in the middle of its work.
 * {@link EmbeddedServer} detects leaked buffers and exceptions.
 */
@Timeout(60)
class ResetSocketsTest {

    /** More flushes than any of the captured inputs causes. */
    private static final int MAX_FLUSHES = 8;

    private final EmbeddedServer server = new EmbeddedServer(
            new AllProtocols().ofServer(),
            exports -> exports.export(ServiceExport.of(GreetService.class, InstantServices.greet()))
                    .export(ServiceExport.of(StreamService.class, new StreamServer())));

    @AfterEach
    void close() {
        server.close();
    }

    private static List<byte[]> captured(String folder, String ending) {
        try (Stream<Path> files =
                Files.list(Path.of(Objects.requireNonNull(ResetSocketsTest.class.getResource("/wire/" + folder))
                        .toURI()))) {
            List<byte[]> found = new ArrayList<>();
            for (Path file : files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList()) {
                found.add(Files.readAllBytes(file));
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends the input in two pieces, and resets the connection at each of the server's first flushes. */
    private void sendAndReset(byte[] input) {
        for (int flushes = 0; flushes < MAX_FLUSHES; flushes++) {
            for (int cut : new int[] {0, input.length / 2}) {
                try (EmbeddedServer.Peer peer = server.connect()) {
                    peer.resetsAfter(flushes);
                    peer.send(input, 0, cut);
                    peer.send(input, cut, input.length);
                    peer.run();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dubbo .request.bin",
                "dubbo-probe .request.bin",
                "http1 .request.bin",
                "triple-h2 .c2s.bin",
                "triple-raw .c2s.bin"
            })
    void requestsOfConnectionsThatWereResetAreReleased(String folderAndEnding) {
        String[] parts = folderAndEnding.split(" ");
        List<byte[]> inputs = captured(parts[0], parts[1]);
        assertThat(inputs).isNotEmpty();

        inputs.forEach(this::sendAndReset);
    }

    @Test
    void upgradesOfConnectionsThatWereResetAreReleased() {
        String body = "\"" + "x".repeat(8_000) + "\"";
        String request = "POST /com.example.wire.GreetService/echo HTTP/1.1\r\nHost: x\r\n"
                + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
                + "Content-Length: " + body.length() + "\r\n\r\n" + body;

        sendAndReset(request.getBytes(ISO_8859_1));
        sendAndReset((request + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").getBytes(ISO_8859_1));
        sendAndReset((request.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n") + "PRI").getBytes(ISO_8859_1));
    }
}
