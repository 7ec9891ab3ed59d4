package tern.rpc.load.peer;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import tern.rpc.load.peer.proto.Item;

/** The messages of the streams: 100 bytes each, numbered from 0. */
final class Items {

    /** The other 11 bytes are the number and the heads of both fields. */
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
