package tern.rpc.load.peer;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import tern.rpc.load.peer.proto.Item;

/** The messages of the streams. Each message has 100 bytes and contains its index, which starts at 0. */
final class Items {

    /** The size of the payload in bytes. The index and the field headers use the remaining 11 of the 100 bytes. */
    private static final int PAYLOAD_BYTES = 89;

    private static final ByteString PAYLOAD = ByteString.copyFrom("x".repeat(PAYLOAD_BYTES), StandardCharsets.US_ASCII);

    private Items() {}

    static Item item(long number) {
        return Item.newBuilder().setNumber(number).setPayload(PAYLOAD).build();
    }

    static boolean isRight(Item item, long number) {
        return item.getNumber() == number && item.getPayload().size() == PAYLOAD_BYTES;
    }
}
