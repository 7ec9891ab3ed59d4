package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;

/** Tests calls from Dubbo consumers with callback objects, which Tern does not support. */
@Timeout(60)
class DubboCallbacksTest {

    private final Sides sides = new Sides();

    @AfterEach
    void close() {
        sides.close();
    }

    /** A consumer sends null as the argument, and the id of its callback object as an attachment. */
    private static byte[] requestWithCallback() {
        OutputBuffer body = new OutputBuffer();
        ObjectWriter writer = HessianSerializer.builder().build().newWriter();
        writer.start(body);
        for (String head : List.of("2.0.2", GreetService.class.getName(), "0.0.0", "echo", "Ljava/lang/String;")) {
            writer.writeString(head);
        }
        writer.writeObject(null);
        writer.startMap();
        writer.writeString("sys_callback_arg-0");
        writer.writeString("1789");
        writer.endMap();
        writer.finish();
        byte[] bytes = body.toByteArray();
        byte[] header = RawFrame.header(RawFrame.TWO_WAY, 0, 4711, bytes.length);
        return ByteBuffer.allocate(header.length + bytes.length)
                .put(header)
                .put(bytes)
                .array();
    }

    @Test
    void callWithACallbackObjectIsRefusedWithTheReason() {
        try (RawSocket socket =
                RawSocket.connect(sides.serve(limits -> limits, settings -> {}).port())) {
            socket.send(requestWithCallback());

            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(4711);
            assertThat(answer.status()).isEqualTo(DubboStatus.SERVICE_ERROR);
            assertThat(answer.text()).contains("callback object");
        }
    }
}
