package tern.rpc.netty.dubbo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.GenericException;

/** Figure R1 for the frames and bodies of the dubbo protocol at a server. */
@Timeout(3_600)
class DubboFuzzTest {

    private static final int INPUTS = 10_000;

    @Test
    void whateverComesIsAnsweredOrClosed() {
        DubboProtocol protocol = new DubboProtocol(
                HessianSerializer.builder()
                        .alias(GenericException.class, GenericException.WIRE_NAME)
                        .build(),
                0);
        GreetService service = InstantServices.greet();
        try (EmbeddedServer server = new EmbeddedServer(
                List.of(protocol),
                exports -> exports.genericCalls(true)
                        .export(ServiceExport.of(GreetService.class, service))
                        .export(ServiceExport.of(GreetService.class, service, "g1", "1.2.3")))) {
            new Fuzz("dubbo", requests(), pieces()).run(INPUTS, server::feed);

            assertThat(server.replies()).isPositive();
        }
    }

    private static List<byte[]> requests() {
        List<byte[]> requests = new ArrayList<>();
        for (String folder : List.of("dubbo", "dubbo-probe")) {
            for (String name : Fixtures.names(folder, ".request.bin")) {
                byte[] bytes = Fixtures.bytes(folder + "/" + name + ".request.bin");
                if (bytes.length < 10_000) {
                    requests.add(bytes);
                }
            }
        }
        return requests;
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
