package tern.rpc.netty.dubbo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import com.example.wire.Person;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.netty.EmbeddedClient;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.FuzzTarget;
import tern.rpc.transport.GenericException;

/**
 * Verifies promise R1 in docs/figures/promises.md for the dubbo protocol. The inputs are frames and bodies that a
 * server or a client receives.
 */
@Timeout(3_600)
public class DubboFuzzTest {

    private static final short MAGIC = (short) 0xDABB;
    private static final int ID_OFFSET = 4;

    /** Clients get only 1/{@value} of the inputs, because each input for a client requires several calls. */
    private static final int A_QUARTER = 4;

    private final DubboProtocol protocol = new DubboProtocol(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            0);

    /** Fuzzes the frames that a server receives. */
    public static FuzzTarget target() {
        EmbeddedServer server = new DubboFuzzTest().server();
        return new FuzzTarget(requests(), server::feed, server);
    }

    @Test
    void everyInputIsAnsweredOrTheConnectionClosed() {
        try (EmbeddedServer server = server()) {
            new Fuzz("dubbo", requests(), pieces()).run(server::feed);

            assertThat(server.replies()).isPositive();
        }
    }

    private EmbeddedServer server() {
        GreetService service = InstantServices.greet();
        return new EmbeddedServer(
                List.of(protocol),
                exports -> exports.genericCalls(true)
                        .export(ServiceExport.of(GreetService.class, service))
                        .export(ServiceExport.of(GreetService.class, service, "g1", "1.2.3")));
    }

    @Test
    void everyAnswerEndsItsCallOnce() {
        List<Invocation> calls = List.of(
                call("types", "x"),
                call("echo", "x"),
                call("pojo", Person.named("x", 1)),
                call("checked", "x"),
                call("map", Map.of(), List.of()));
        try (EmbeddedClient client = new EmbeddedClient(protocol, calls, DubboFuzzTest::numbered)) {
            new Fuzz("dubbo, client", answers(calls.size()), pieces()).run(A_QUARTER, client::feed);

            assertThat(client.results()).isPositive();
            assertThat(client.failures()).isPositive();
        }
    }

    private Invocation call(String method, Object... arguments) {
        ServiceDescriptor service = ServiceDescriptor.of(GreetService.class);
        protocol.prepareReference(service);
        return new Invocation(
                new ServiceKey(service.name(), "", ""),
                service.overloads(method).get(0),
                arguments,
                new Metadata(),
                Deadline.none(),
                Runnable::run);
    }

    /** Replaces each id below 256 in the frame headers of the input: id n becomes the request id of call n. */
    private static byte[] numbered(byte[] input, long firstId) {
        ByteBuffer bytes = ByteBuffer.wrap(input.clone());
        for (int at = 0; at + RawFrame.HEADER_BYTES <= input.length; at++) {
            if (bytes.getShort(at) == MAGIC) {
                long id = bytes.getLong(at + ID_OFFSET);
                if (id >= 0 && id < 256) {
                    bytes.putLong(at + ID_OFFSET, firstId + id);
                }
            }
        }
        return bytes.array();
    }

    /**
     * Returns inputs made from captured answers of real and scripted servers. Each answer appears in three inputs. The
     * first input contains only this answer, and consecutive answers belong to different calls. In the second input,
     * the answer belongs to call 0, whose result type accepts any value. The third input contains several answers, one
     * for each call.
     */
    private static List<byte[]> answers(int calls) {
        List<byte[]> captured = new ArrayList<>();
        captured.addAll(captured("dubbo", ".response.bin"));
        captured.addAll(captured("dubbo-probe", ".response.bin"));
        captured.addAll(captured("fake-server", ".response.bin"));
        List<byte[]> answers = new ArrayList<>();
        ByteArrayOutputStream several = new ByteArrayOutputStream();
        for (int i = 0; i < captured.size(); i++) {
            byte[] answer = captured.get(i);
            if (answer.length < RawFrame.HEADER_BYTES) {
                continue;
            }
            byte[] toOne = withId(answer, i % calls);
            answers.add(toOne);
            answers.add(withId(answer, 0));
            several.writeBytes(toOne);
            if (i % calls == calls - 1) {
                answers.add(several.toByteArray());
                several.reset();
            }
        }
        return answers;
    }

    private static byte[] withId(byte[] frame, long id) {
        return ByteBuffer.wrap(frame.clone()).putLong(ID_OFFSET, id).array();
    }

    private static List<byte[]> requests() {
        List<byte[]> requests = new ArrayList<>();
        requests.addAll(captured("dubbo", ".request.bin"));
        requests.addAll(captured("dubbo-probe", ".request.bin"));
        return requests;
    }

    private static List<byte[]> captured(String folder, String ending) {
        List<byte[]> captured = new ArrayList<>();
        for (String name : Fixtures.names(folder, ending)) {
            byte[] bytes = Fixtures.bytes(folder + "/" + name + ending);
            if (bytes.length < 10_000) {
                captured.add(bytes);
            }
        }
        return captured;
    }

    private static List<byte[]> pieces() {
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            pieces.add(new byte[] {(byte) i});
            pieces.add(RawFrame.header(i, i & 0x7f, i, i));
        }
        for (String text :
                List.of("\u00052.0.2", "\u0004echo", "\u0007$invoke", "\u0005$echo", "\u0012Ljava/lang/String;")) {
            pieces.add(text.getBytes(ISO_8859_1));
        }
        pieces.add(RawFrame.heartbeat(1).bytes());
        pieces.add(RawFrame.readOnly(1).bytes());
        return pieces;
    }
}
