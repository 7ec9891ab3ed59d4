package tern.rpc.netty.dubbo;

/**
 * The 16-byte header of every frame (docs/wire-protocol.md 1.1): magic number, flags, status, request id, body length.
 */
final class DubboHeader {

    static final int BYTES = 16;

    static final short MAGIC = (short) 0xDABB;

    /** The bit of the flag byte (at offset 2) that is set in requests and not set in responses. */
    static final int FLAG_REQUEST = 0x80;

    /** The bit of the flag byte that is set if the sender expects an answer. */
    static final int FLAG_TWO_WAY = 0x40;

    /** The bit of the flag byte that is set if the frame is an event, such as a heartbeat. */
    static final int FLAG_EVENT = 0x20;

    /** The bits of the flag byte that contain the serialization of the body. */
    static final int SERIALIZATION_MASK = 0x1F;

    /** The serialization id of hessian2 (docs/wire-protocol.md 1.2). */
    static final int HESSIAN2 = 2;

    private DubboHeader() {}

    /** Writes the header into the first 16 bytes of a frame whose body is already present. */
    static void write(byte[] frame, int flags, int status, long id, int bodyBytes) {
        frame[0] = (byte) (MAGIC >>> 8);
        frame[1] = (byte) MAGIC;
        frame[2] = (byte) flags;
        frame[3] = (byte) status;
        for (int i = 0; i < 8; i++) {
            frame[4 + i] = (byte) (id >>> (56 - 8 * i));
        }
        for (int i = 0; i < 4; i++) {
            frame[12 + i] = (byte) (bodyBytes >>> (24 - 8 * i));
        }
    }

    static boolean isRequest(int flags) {
        return (flags & FLAG_REQUEST) != 0;
    }

    static boolean isTwoWay(int flags) {
        return (flags & FLAG_TWO_WAY) != 0;
    }

    static boolean isEvent(int flags) {
        return (flags & FLAG_EVENT) != 0;
    }

    static int serialization(int flags) {
        return flags & SERIALIZATION_MASK;
    }

    /**
     * Returns the id of a serialization for an error message. The result includes the name of the serialization in
     * Dubbo's settings if there is one.
     */
    static String nameOf(int serialization) {
        String name = switch (serialization) {
            case HESSIAN2 -> "hessian2";
            case 3 -> "java";
            case 4 -> "compactedjava";
            case 6 -> "fastjson";
            case 7 -> "nativejava";
            case 8 -> "kryo";
            case 9 -> "fst";
            case 10 -> "native-hessian";
            case 11 -> "avro";
            case 12 -> "protostuff";
            case 16 -> "gson";
            case 18 -> "jackson";
            case 21 -> "protobuf-json";
            case 22 -> "protobuf";
            case 23 -> "fastjson2";
            case 25 -> "kryo2";
            case 27 -> "msgpack";
            case 28 -> "fury";
            default -> "";
        };
        return name.isEmpty() ? String.valueOf(serialization) : serialization + " (" + name + ")";
    }
}
