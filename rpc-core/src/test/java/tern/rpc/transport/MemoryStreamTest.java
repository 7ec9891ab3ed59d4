package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.serialization.MessageKind;

/** Tests the limits of one direction of an in-memory stream. */
class MemoryStreamTest {

    private static final String LARGE = "x".repeat(MessageStream.ALLOWED_BYTES);

    private final AtomicLong unread = new AtomicLong();
    private final List<Message> received = new ArrayList<>();
    private final AtomicInteger readies = new AtomicInteger();
    private final MemoryStream sender = newEnd();
    private final MemoryStream receiver = newEnd();

    private MemoryStream newEnd() {
        MethodDescriptor method =
                ServiceDescriptor.of(StreamService.class).overloads("publish").get(0);
        MemoryCodec codec = new MemoryCodec(new JdkSerializer(), 8 << 20, 8 << 20);
        return new MemoryStream(codec, MessageKind.RESPONSE, method, method.result(), unread);
    }

    private final class Events implements MessageStream.Receiver {
        @Override
        public void message(Message message) {
            received.add(message);
        }

        @Override
        public void ended() {
            // The tests do not end the stream.
        }

        @Override
        public void ready() {
            readies.incrementAndGet();
        }
    }

    @BeforeEach
    void connect() {
        MemoryStream.connect(sender, receiver);
        sender.start(new Events());
        receiver.start(new Events());
    }

    @Test
    void receiverGetsNoMoreBytesThanItsAllowance() {
        receiver.request(100);

        for (int i = 0; i < 3; i++) {
            sender.send(LARGE);
        }

        assertThat(received).hasSize(1);
        assertThat(sender.isReady()).isFalse();

        receiver.request(0);

        assertThat(received).hasSize(2);

        receiver.request(0);

        assertThat(received).hasSize(3);
        assertThat(sender.isReady()).isTrue();
        // The sender became ready after the first message, and again after the last one.
        assertThat(readies).hasValue(2);
    }

    @Test
    void renewedAllowanceDeliversNothingThatWasNotRequested() {
        receiver.request(1);
        sender.send("a");
        sender.send("b");

        receiver.request(0);

        assertThat(received).hasSize(1);
    }

    @Test
    void senderThatIgnoresReadinessFailsAtTheLimit() {
        for (int i = 0; i < 4; i++) {
            sender.send(LARGE);
        }

        assertThatThrownBy(() -> sender.send("one more"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("of 1048576 bytes wait to be read by the peer");
    }

    @Test
    void closedEndDiscardsWaitingMessages() {
        sender.send(LARGE);

        receiver.close();

        assertThat(unread).hasValue(0);
        assertThat(sender.isReady()).isTrue();
    }
}
