package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tern.rpc.load.peer.proto.Item;

class ItemReaderTest {

    private final ItemReader reader = new ItemReader(2);

    @Test
    void messagesHave100Bytes() {
        assertThat(Items.item(0).getSerializedSize()).isEqualTo(91);
        assertThat(Items.item(1).getSerializedSize()).isEqualTo(100);
        assertThat(Items.item(199_999).getSerializedSize()).isEqualTo(100);
    }

    @Test
    void allMessagesInOrderAreRight() {
        reader.onNext(Items.item(0));
        reader.onNext(Items.item(1));
        reader.onCompleted();

        reader.await();

        assertThat(reader.received()).isEqualTo(2);
    }

    @Test
    void aMessageOutOfOrderIsReported() {
        reader.onNext(Items.item(1));
        reader.onNext(Items.item(0));
        reader.onCompleted();

        assertThatThrownBy(reader::await).hasMessage("message 0 has number 1 and a payload of 89 bytes");
    }

    @Test
    void aShortenedMessageIsReported() {
        reader.onNext(Item.newBuilder().setNumber(0).build());
        reader.onNext(Items.item(1));
        reader.onCompleted();

        assertThatThrownBy(reader::await).hasMessage("message 0 has number 0 and a payload of 0 bytes");
    }

    @Test
    void aStreamThatEndsEarlyIsReported() {
        reader.onNext(Items.item(0));
        reader.onCompleted();

        assertThatThrownBy(reader::await).hasMessage("the stream ended after 1 of 2 messages");
    }

    @Test
    void aStreamThatFailsIsReported() {
        reader.onError(new IllegalStateException("broken"));

        assertThatThrownBy(reader::await)
                .hasMessage("the stream failed after 0 of 2 messages: java.lang.IllegalStateException: broken");
    }
}
