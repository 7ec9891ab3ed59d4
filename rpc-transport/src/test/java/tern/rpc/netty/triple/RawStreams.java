package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Requests.Opened;

/** Streams between Tern's client and a scripted server. */
final class RawStreams implements AutoCloseable {

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            "raw.Service",
            List.of(
                    new Operation("down", MethodType.SERVER_STREAMING, byte[].class, byte[].class),
                    new Operation("up", MethodType.CLIENT_STREAMING, byte[].class, byte[].class),
                    new Operation("both", MethodType.BIDI_STREAMING, byte[].class, byte[].class)));

    /** The headers of an answer without an error. */
    static final String[] OK = {":status", "200", "content-type", "application/grpc"};

    private static final byte[] NOTHING = new byte[8];

    final Requests requests = new Requests();
    final RawServer server = RawServer.start();

    static MethodDescriptor method(String name) {
        return SERVICE.overloads(name).get(0);
    }

    Opened open(String name, Object... arguments) {
        return requests.open(requests.connect(server.endpoint()), requests.call(method(name), arguments));
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    static byte[] framed(String text) {
        return Http2Script.framed(0, bytes(text));
    }

    static String text(Object message) {
        return new String((byte[]) message, UTF_8);
    }

    /**
     * Sends a PING and waits for its acknowledgement. When it arrives, the client has processed all frames that were
     * sent before the PING.
     */
    static void ping(Http2Script script) {
        script.send(Http2Script.PING, 0, 0, NOTHING);
        assertThat(script.next(Http2Script.PING).flags()).isEqualTo(Http2Script.ACK);
    }

    @Override
    public void close() {
        requests.close();
        server.close();
    }
}
